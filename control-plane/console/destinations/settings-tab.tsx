import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Destination, DestinationType, JsonObject } from '../api/types.ts';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card } from '../design/page.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { JsonForm } from '../forms/json-form.tsx';
import { NamedChecks } from '../forms/named-checks.tsx';
import { changedSettings, settingsForm } from '../forms/settings-schema.ts';

/** The settings of a destination in the draft. */
export function SettingsTab({ destination }: { readonly destination: Destination }): ReactElement {
  const types = useRead<{ readonly entities: readonly DestinationType[] }>('/destinations/types');
  const mayUpdate = useScope('destination:update');
  const save = useChange((body: object) => request<Destination>('PATCH', `/destinations/${destination.id}`, body));
  const kind = types.data?.entities.find(({ id }) => id === destination.type);
  const stored = destination.settings ?? {};
  const form = kind === undefined ? undefined : settingsForm(kind, stored);
  return (
    <>
      <Waiting query={types} />
      {mayUpdate ? null : (
        <p className="note warn">
          This key can read settings but not change them. It lacks the scope destination:update.
        </p>
      )}
      {save.isSuccess ? (
        <p className="note good" role="status">
          <State tone="good">Saved in the draft.</State>
          <span>
            Takes effect when you publish. <Link to="/draft">View the draft</Link>, or send a{' '}
            <Link to={`/destinations/${destination.id}/test`}>test event</Link>.
          </span>
        </p>
      ) : null}
      <div className="columns">
        {kind === undefined || form === undefined ? null : (
          <Card title={kind.label} aside={<a href={guideOf(kind.id)}>Guide to its settings and events</a>}>
            <JsonForm
              // After a change of the destination the form restarts with the stored values.
              key={destination.updatedAt ?? destination.createdAt}
              {...form}
              action="Save in the draft"
              error={save.error}
              save={save}
              isBusy={save.isPending || !mayUpdate}
              onSubmit={(values: JsonObject) => save.mutate({ settings: changedSettings(kind, stored, values) })}
            />
          </Card>
        )}
        <General destination={destination} />
      </div>
    </>
  );
}

/** Address of a kind's page in the documentation. */
const guideOf = (kindId: string): string => `/docs/destinations/${kindId.toLowerCase()}.html`;

function General({ destination }: { readonly destination: Destination }): ReactElement {
  const mayUpdate = useScope('destination:update');
  const [name, setName] = useState(destination.name ?? '');
  const [limited, setLimited] = useState<readonly string[]>(destination.limitedToSourceIds ?? []);
  const save = useChange((body: object) => request<Destination>('PATCH', `/destinations/${destination.id}`, body));
  return (
    <Card title="Name and sources">
      <EditForm
        values={[name, limited]}
        save={save}
        onSubmit={() => save.mutate({ name, limitedToSourceIds: limited.length === 0 ? null : limited })}
      >
        <Field label="Name">
          {(ids) => <input {...ids} maxLength={250} value={name} onChange={(event) => setName(event.target.value)} />}
        </Field>
        <NamedChecks
          legend="Sources"
          of="sources"
          none="All sources. Select some to limit the destination to them."
          ids={limited}
          onChange={setLimited}
        />
        <ErrorNote error={save.error} />
        <div className="row">
          <button type="submit" disabled={save.isPending || !mayUpdate}>
            Save in the draft
          </button>
          {save.isSuccess ? <State tone="good">Saved</State> : null}
        </div>
      </EditForm>
    </Card>
  );
}
