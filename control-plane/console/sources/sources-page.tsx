import { useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useNavigate } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useList, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { Source, SourceType } from '../api/types.ts';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { FormButton } from '../design/form-button.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { EditForm } from '../forms/edit-form.tsx';
import { CheckKeyCard } from './check-key-card.tsx';

/** The sources with their state and last request, and a form that adds one. */
export function SourcesPage(): ReactElement {
  const query = useList<Source>('/sources?limit=100', { everyMs: 10_000 });
  const types = useRead<{ readonly entities: readonly SourceType[] }>('/sources/types').data?.entities ?? [];
  const labelOf = (type: string): string => types.find(({ id }) => id === type)?.label ?? type;
  const mayCreate = useScope('source:create');
  const [isAdding, setAdding] = useState(false);
  return (
    <Page
      title="Sources"
      lead="Where events come from. Each source has its own key."
      actions={
        mayCreate ? (
          <FormButton isOpen={isAdding} onChange={setAdding}>
            Add a source
          </FormButton>
        ) : null
      }
    >
      {isAdding ? <NewSource types={types} /> : null}
      <Waiting query={query} />
      <Card isFlush>
        {query.isSuccess && query.entities.length === 0 ? (
          <Empty title="No sources yet.">
            <p>Add one, publish the draft, and send events with its key.</p>
          </Empty>
        ) : null}
        {query.entities.length === 0 ? null : (
          <Table
            label="Sources"
            rows={query.entities}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Source',
                cell: ({ id, name, type }) => (
                  <Link className="clip" dir="auto" to={`/sources/${id}`}>
                    {name || labelOf(type)}
                  </Link>
                ),
              },
              { title: 'Kind', cell: ({ type }) => labelOf(type) },
              { title: 'State', cell: (source) => <SourceState source={source} /> },
              { title: 'Last request', cell: ({ lastTriggeredAt }) => <Ago at={lastTriggeredAt} /> },
              { title: 'Last delivered', cell: ({ lastDispatchedAt }) => <Ago at={lastDispatchedAt} /> },
            ]}
          />
        )}
        <More query={query} />
      </Card>
      <CheckKeyCard />
    </Page>
  );
}

export function SourceState({ source: { status, liveStatus } }: { readonly source: Source }): ReactElement {
  if (liveStatus === null) return <State tone="warn">Not published: does not accept events</State>;
  if (liveStatus === 'Enabled') {
    return status === 'Enabled' ? (
      <State tone="good">Accepts events</State>
    ) : (
      <State tone="warn">Accepts events until you publish: disabled in the draft</State>
    );
  }
  return status === 'Enabled' ? (
    <State tone="warn">Does not accept events until you publish: enabled in the draft</State>
  ) : (
    <State tone="off">Disabled: does not accept events</State>
  );
}

const groups: Readonly<Record<SourceType['group'], string>> = {
  page: 'Web',
  app: 'Apps',
  server: 'Servers',
  webhook: 'Webhooks',
};

function NewSource({ types }: { readonly types: readonly SourceType[] }): ReactElement {
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [type, setType] = useState('WebSource');
  const [redirectUrl, setRedirectUrl] = useState('');
  const isLink = type === 'RedirectSource';
  const create = useChange((body: object) => request<Source>('POST', '/sources', body));
  const submit = (): void => {
    create.mutate(
      { name, type, ...(isLink ? { redirectUrl } : {}) },
      { onSuccess: ({ id }) => void navigate(`/sources/${id}`) },
    );
  };
  return (
    <Card title="Add a source">
      <EditForm values={[name, type, redirectUrl]} save={create} onSubmit={submit}>
        <Field label="Name">
          {(ids) => (
            <input {...ids} required maxLength={250} value={name} onChange={(event) => setName(event.target.value)} />
          )}
        </Field>
        <Field label="Kind">
          {(ids) => (
            <select {...ids} value={type} onChange={(event) => setType(event.target.value)}>
              {Object.entries(groups).map(([group, title]) => (
                <optgroup key={group} label={title}>
                  {types
                    .filter((one) => one.group === group)
                    .map(({ id, label }) => (
                      <option key={id} value={id}>
                        {label}
                      </option>
                    ))}
                </optgroup>
              ))}
            </select>
          )}
        </Field>
        {isLink ? (
          <Field label="Leads to" hint="The address that the short link opens.">
            {(ids) => (
              <input
                {...ids}
                type="url"
                required
                maxLength={2_048}
                value={redirectUrl}
                onChange={(event) => setRedirectUrl(event.target.value)}
              />
            )}
          </Field>
        ) : null}
        <ErrorNote error={create.error} />
        <div className="row">
          <button className="primary" type="submit" disabled={create.isPending}>
            Add to the draft
          </button>
        </div>
      </EditForm>
    </Card>
  );
}
