import { useState } from 'react';
import type { ReactElement } from 'react';
import { useNavigate } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import type { BacklogLeft, Change } from '../api/types.ts';
import { ErrorNote } from '../design/feedback.tsx';
import { Check, Field } from '../design/field.tsx';
import { countOf } from '../design/numbers.ts';
import { Card } from '../design/page.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import type { EditFormProps } from '../forms/edit-form.tsx';
import { useRequiresApproval } from './approval-card.tsx';
import { Backlogs } from './backlogs.tsx';

/** Maximum number of rules whose quarantined events one publish can release. */
const rulesMax = 20;
const commentCharactersMax = 2_000;

type Sending = EditFormProps['save'] & {
  readonly error: unknown;
  readonly isPending: boolean;
};

export type PublishCardProps = {
  readonly changes: readonly Change[];
  readonly publish: Sending & { mutate(body: object): void };
  /** Requests an approval instead of publishing. */
  readonly request: Sending & {
    mutate(body: object, then: { onSuccess(version: { readonly id: string }): void }): void;
  };
};

/** Explains the effect of publishing the draft, and publishes it or requests an approval. */
export function PublishCard({ changes, publish, request: ask }: PublishCardProps): ReactElement {
  const isApprovalRequired = useRequiresApproval();
  const navigate = useNavigate();
  const mayPublish = useScope('version:publish');
  const mayCreate = useScope('version:create') || mayPublish;
  const sending = isApprovalRequired ? ask : publish;
  const backlogs = useRead<{ readonly entities: readonly BacklogLeft[] }>('/versions/draft/backlogs', {
    everyMs: 10_000,
  });
  const [name, setName] = useState('');
  const [notes, setNotes] = useState('');
  const [isForced, setForced] = useState(false);
  const mayRelease = useScope('quarantine:release');
  const [isReleasing, setReleasing] = useState(false);
  const planned = changes
    .filter(({ collection }) => collection === 'dataGovernanceRules' || collection === 'dataGovernanceEvents')
    .slice(0, rulesMax)
    .map(({ id }) => id);
  const added = changes.filter((one) => one.collection === 'destinations' && one.change === 'added').length;
  const left = backlogs.data?.entities ?? [];
  const needsForce = left.some((one) => one.needsForce);
  const submit = (): void => {
    const named = { ...(name === '' ? {} : { name }), ...(notes === '' ? {} : { notes }) };
    if (isApprovalRequired) {
      const comment = notes === '' ? {} : { comment: notes.slice(0, commentCharactersMax) };
      ask.mutate({ ...named, ...comment }, { onSuccess: ({ id }) => void navigate(`/versions/${id}`) });
      return;
    }
    const force = needsForce && isForced ? { force: true } : {};
    const release = isReleasing && planned.length > 0 ? { releaseQuarantine: planned } : {};
    publish.mutate({ ...named, ...force, ...release });
  };
  return (
    <Card title="Publish">
      <ul>
        <li>Every gateway and pipeline applies the changes without a restart.</li>
        {added > 0 ? (
          <li>{countOf(added, 'new destination')} will receive events from then on, not earlier ones.</li>
        ) : null}
        <li>You can roll back to the current version at any time.</li>
      </ul>
      <ErrorNote error={backlogs.error} />
      <Backlogs left={left} isForced={isForced} onForced={setForced} />
      <EditForm values={[name, notes]} save={sending} onSubmit={submit}>
        <Field label="Name" hint="Optional. Leave empty to have a name generated.">
          {(ids) => <input {...ids} maxLength={250} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <Field label="Notes" hint="What changes and why. Shown in the history.">
          {(ids) => (
            <textarea {...ids} maxLength={10_000} value={notes} onChange={(event) => setNotes(event.target.value)} />
          )}
        </Field>
        {planned.length > 0 && mayRelease && !isApprovalRequired ? (
          <Check
            label="After publishing, release the events quarantined by the changed tracking plan rules"
            checked={isReleasing}
            onChange={setReleasing}
          />
        ) : null}
        {isApprovalRequired ? (
          <p className="note">
            This account requires approval: another user or key must approve the version before it can be published.
          </p>
        ) : null}
        {mayPublish || (isApprovalRequired && mayCreate) ? null : (
          <p className="note warn">This key lacks the scope version:publish.</p>
        )}
        <ErrorNote error={sending.error} />
        <div className="row">
          <button
            className="primary"
            type="submit"
            disabled={sending.isPending || (isApprovalRequired ? !mayCreate : !mayPublish || (needsForce && !isForced))}
          >
            {isApprovalRequired
              ? `Request approval of ${countOf(changes.length, 'change')}`
              : publish.isPending
                ? 'Publishing …'
                : `Publish ${countOf(changes.length, 'change')}`}
          </button>
        </div>
      </EditForm>
    </Card>
  );
}
