import { useState } from 'react';
import type { ReactElement } from 'react';
import { useAccounts, useScope } from '../api/accounts.ts';
import { useChange, useList, useRead } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { ApiKey, Role } from '../api/types.ts';
import { Code } from '../design/code.tsx';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import { Check, Field } from '../design/field.tsx';
import { FormButton } from '../design/form-button.tsx';
import { Card, Page } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import { Ago, At } from '../design/time.tsx';
import { EditForm } from '../forms/edit-form.tsx';

/** The choice for a dashboard or script that monitors the installation; no role of an account gives access to it. */
const operator = {
  id: 'operator',
  label: 'Operate the installation',
  summary: 'Activity of the account, processes, findings and alerts.',
  scopes: ['activity:find', 'system:find'],
};

/** The keys of the configuration API, used by programs and this console. */
export function KeysPage(): ReactElement {
  const query = useList<ApiKey>('/keys?limit=50');
  const mayCreate = useScope('key:create');
  const mayRevoke = useScope('key:delete');
  const { current } = useAccounts();
  const [isAdding, setAdding] = useState(false);
  const [ending, setEnding] = useState<ApiKey>();
  const revoke = useChange((id: string) => request('DELETE', `/keys/${id}`));
  return (
    <Page
      title="API keys"
      lead="Keys for the configuration API and this console. Events are sent with the keys of sources."
      actions={
        mayCreate ? (
          <FormButton isOpen={isAdding} onChange={setAdding}>
            Create a key
          </FormButton>
        ) : null
      }
    >
      {isAdding ? <NewKey /> : null}
      <Waiting query={query} />
      <Card isFlush>
        {query.entities.length === 0 ? null : (
          <Table
            label="API keys"
            rows={query.entities}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Key',
                cell: ({ name, prefix, id }) => (
                  <div className="stack tight">
                    <span className="clip" dir="auto">
                      {name}
                      {id === current?.keyId ? ' (this one)' : ''}
                    </span>
                    <span className="hint mono">{prefix}_…</span>
                  </div>
                ),
              },
              { title: 'State', cell: (key) => <KeyState apiKey={key} /> },
              {
                title: 'Scopes',
                cell: ({ scopes }) => (
                  <span className="clip" title={scopes.join(', ')}>
                    {scopes.includes('all') ? 'everything' : scopes.join(', ')}
                  </span>
                ),
              },
              { title: 'Last used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
              {
                title: 'Actions',
                cell: (key) =>
                  mayRevoke && key.revokedAt === null ? (
                    <button type="button" className="danger" onClick={() => setEnding(key)}>
                      Revoke
                    </button>
                  ) : null,
              },
            ]}
          />
        )}
        <More query={query} />
      </Card>
      {ending === undefined ? null : (
        <Confirm
          title={`Revoke the key ${ending.name}?`}
          action="Revoke now"
          isDanger
          onDone={() => setEnding(undefined)}
          onConfirm={() => revoke.mutateAsync(ending.id)}
        >
          <p>
            Requests with this key are rejected from now on
            {ending.id === current?.keyId ? ', including those of this console' : ''}. It cannot be restored.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

function KeyState({ apiKey: { revokedAt, expiresAt } }: { readonly apiKey: ApiKey }): ReactElement {
  if (revokedAt !== null) return <State tone="off">Revoked</State>;
  if (expiresAt === null) return <State tone="good">Valid</State>;
  return new Date(expiresAt) <= new Date() ? (
    <State tone="off">Expired</State>
  ) : (
    <span>
      <State tone="good">Valid</State>{' '}
      <span className="hint">
        until <At at={expiresAt} />
      </span>
    </span>
  );
}

function NewKey(): ReactElement {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState('viewer');
  const [isUnmasked, setUnmasked] = useState(false);
  const roles = useRead<{ readonly entities: readonly Role[] }>('/roles').data?.entities ?? [];
  const bundles = [...roles, operator];
  const bundle = bundles.find(({ id }) => id === chosen);
  const held = bundle?.scopes ?? [];
  const readsValues = held.includes('all') || held.includes('pii:read');
  const scopes = isUnmasked && !readsValues ? [...held, 'pii:read'] : held;
  const [days, setDays] = useState('90');
  const create = useChange((body: object) => request<ApiKey & { readonly key: string }>('POST', '/keys', body));
  const submit = (): void => {
    const expiresAt = days === '' ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString();
    create.mutate({ name, scopes, expiresAt });
  };
  return (
    <Card title="Create a key">
      {create.data === undefined ? (
        <EditForm values={[name, chosen, isUnmasked, days]} save={create} onSubmit={submit}>
          <Field label="Name" hint="Who uses it, and for what.">
            {(ids) => (
              <input {...ids} required maxLength={250} value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
          <Field label="Role" hint={bundle?.summary}>
            {(ids) => (
              <select {...ids} value={chosen} onChange={(event) => setChosen(event.target.value)}>
                {bundles.map(({ id, label }) => (
                  <option key={id} value={id}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {readsValues ? null : (
            <Check
              label="Show values of visitors and events where the account masks them"
              checked={isUnmasked}
              onChange={setUnmasked}
            />
          )}
          <details>
            <summary>
              {scopes.length} {scopes.length === 1 ? 'scope' : 'scopes'}
            </summary>
            <p className="hint">{scopes.join(', ')}</p>
          </details>
          <Field label="Valid for (days)" hint="Leave empty for no expiry.">
            {(ids) => (
              <input
                {...ids}
                type="number"
                min={1}
                max={3_650}
                value={days}
                onChange={(event) => setDays(event.target.value)}
              />
            )}
          </Field>
          <ErrorNote error={create.error} />
          <div className="row">
            <button className="primary" type="submit" disabled={create.isPending || scopes.length === 0}>
              Create
            </button>
          </div>
        </EditForm>
      ) : (
        <div className="stack" role="status">
          <p className="note warn">Copy it now: it is not shown again.</p>
          <Code label={`Key ${create.data.name}`} text={create.data.key} />
        </div>
      )}
    </Card>
  );
}
