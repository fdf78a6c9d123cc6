import { useState } from 'react';
import type { ReactElement } from 'react';
import { useChange } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Source, SourceType, Tokens } from '../api/types.ts';
import { Code } from '../design/code.tsx';
import { ErrorNote, State } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card } from '../design/page.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { webhookUrl } from './snippets.ts';

export type WebhookCardProps = {
  readonly source: Source;
  readonly type: SourceType;
  readonly tokens: Tokens;
  readonly mayUpdate: boolean;
};

/** The address of a webhook source, the steps to set it up at the provider, and fields for the provider's secrets. */
export function WebhookCard({ source, type, tokens, mayUpdate }: WebhookCardProps): ReactElement {
  const { secretName, tokenName, setUp, notes } = type;
  return (
    <Card title="Set up the webhook">
      <Code label="Address" text={webhookUrl({ ingestUrl: tokens.ingestUrl, key: tokens.token })} />
      {setUp === null ? null : (
        <p>
          At {type.label}: {setUp}.
        </p>
      )}
      {notes === null ? null : <p className="hint">{notes}</p>}
      {secretName === null ? (
        setUp === null ? null : (
          <p className="hint">{type.label} does not sign requests: keep the address secret.</p>
        )
      ) : (
        <SecretField
          source={source}
          field="signingSecret"
          label={`${secretName} (signs the requests)`}
          unset="Without it, requests are accepted unsigned."
          mayUpdate={mayUpdate}
        />
      )}
      {tokenName === null ? null : (
        <SecretField
          source={source}
          field="accessToken"
          label={`${tokenName} (fetches the objects that notifications refer to)`}
          unset="Without it, only the notifications arrive."
          mayUpdate={mayUpdate}
        />
      )}
    </Card>
  );
}

type SecretFieldProps = {
  readonly source: Source;
  readonly field: 'signingSecret' | 'accessToken';
  readonly label: string;
  /** Hint shown while the secret is not set. */
  readonly unset: string;
  readonly mayUpdate: boolean;
};

function SecretField({ source, field, label, unset, mayUpdate }: SecretFieldProps): ReactElement {
  const [value, setValue] = useState('');
  const isSet = source[field] !== null;
  const save = useChange((given: string | null) => request('PATCH', `/sources/${source.id}`, { [field]: given }));
  return (
    <EditForm
      values={value}
      save={save}
      startsAgain
      onSubmit={() => save.mutate(value, { onSuccess: () => setValue((now) => (now === value ? '' : now)) })}
    >
      <Field label={label} hint={isSet ? <State tone="good">Set. It takes effect when you publish.</State> : unset}>
        {(ids) => (
          <input
            {...ids}
            type="password"
            autoComplete="off"
            required
            disabled={!mayUpdate}
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        )}
      </Field>
      <ErrorNote error={save.error} />
      {mayUpdate ? (
        <div className="row">
          <button type="submit" disabled={save.isPending || value === ''}>
            {isSet ? 'Replace' : 'Save in the draft'}
          </button>
          {isSet ? (
            <button type="button" className="plain" disabled={save.isPending} onClick={() => save.mutate(null)}>
              Remove
            </button>
          ) : null}
        </div>
      ) : null}
    </EditForm>
  );
}
