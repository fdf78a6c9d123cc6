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
import { EditForm, WhileSaved } from '../forms/edit-form.tsx';
import { JsonForm } from '../forms/json-form.tsx';
import { NamedChecks } from '../forms/named-checks.tsx';
import { changedSettings, settingsForm } from '../forms/settings-schema.ts';
import { useSave } from '../forms/use-save.ts';

/** The settings of a destination in the draft. */
export function SettingsTab({ id }: { readonly id: string }): ReactElement {
  const query = useRead<Destination>(`/destinations/${id}`, { isEdited: true });
  return (
    <>
      <Waiting query={query} />
      {query.data === undefined ? null : <StoredSettings key={id} destination={query.data} />}
    </>
  );
}

function StoredSettings({ destination }: { readonly destination: Destination }): ReactElement {
  const types = useRead<{ readonly entities: readonly DestinationType[] }>('/destinations/types');
  const mayUpdate = useScope('destination:update');
  const save = useChange((settings: JsonObject) =>
    request<Destination>('PATCH', `/destinations/${destination.id}`, { settings }),
  );
  // The destination that the form began with: when it was opened, or saved last.
  const [begun, setBegun] = useState(destination);
  const kind = types.data?.entities.find(({ id }) => id === destination.type);
  const stored = begun.settings ?? {};
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
              {...form}
              // Only its own save changes the form's values: another change of the destination must not.
              revision={begun.updatedAt ?? begun.createdAt}
              action="Save in the draft"
              error={save.error}
              save={save}
              isBusy={save.isPending || !mayUpdate}
              onSubmit={(values) => save.mutate(changedSettings(kind, stored, values), { onSuccess: setBegun })}
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
  const fields = { name, limitedToSourceIds: limited.length === 0 ? null : limited };
  const save = useSave(fields, (changed) => request<Destination>('PATCH', `/destinations/${destination.id}`, changed));
  return (
    <Card title="Name and sources">
      <EditForm values={fields} save={save} onSubmit={() => save.mutate(fields)}>
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
          <WhileSaved>{save.isSuccess ? <State tone="good">Saved</State> : null}</WhileSaved>
        </div>
      </EditForm>
    </Card>
  );
}
