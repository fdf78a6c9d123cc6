import { useState } from 'react';
import type { FormEvent, ReactElement } from 'react';
import { useAccounts, useScope } from '../api/accounts.ts';
import { useChange, useList } from '../api/queries.ts';
import { request } from '../api/request.ts';
import type { ApiKey } from '../api/types.ts';
import { Code } from '../design/code.tsx';
import { Confirm } from '../design/confirm.tsx';
import { ErrorNote, State, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card, Page } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import { Ago, At } from '../design/time.tsx';

/** What a key may do, for those who give keys to people rather than programs. */
const bundles: Readonly<Record<string, { readonly label: string; readonly scopes: readonly string[] }>> = {
  all: { label: 'Everything', scopes: ['all'] },
  read: {
    label: 'Look, and change nothing',
    scopes: [
      'activity:find',
      'event:list',
      'visitor:find',
      'destination:list',
      'destination:find',
      'source:list',
      'version:list',
      'version:find',
      'audit:list',
    ],
  },
  operate: { label: 'Look at the whole installation', scopes: ['activity:find', 'system:find'] },
  edit: {
    label: 'Change the draft, not publish it',
    scopes: [
      'activity:find',
      'event:list',
      'destination:list',
      'destination:find',
      'destination:create',
      'destination:update',
      'source:list',
      'source:find',
      'source:create',
      'source:update',
      'version:list',
      'version:find',
    ],
  },
};

/** The keys of the configuration interface: a page like this one, or a program, works with one. */
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
      lead="Who may look at this account and change it. Events are sent with the keys of sources."
      actions={
        mayCreate ? (
          <button type="button" className="primary" aria-expanded={isAdding} onClick={() => setAdding(!isAdding)}>
            Make a key
          </button>
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
                title: 'May',
                cell: ({ scopes }) => (
                  <span className="clip" title={scopes.join(', ')}>
                    {scopes.includes('all') ? 'everything' : scopes.join(', ')}
                  </span>
                ),
              },
              { title: 'Last used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
              {
                title: 'Do',
                cell: (key) =>
                  mayRevoke && key.revokedAt === null ? (
                    <button type="button" className="danger" onClick={() => setEnding(key)}>
                      End
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
          title={`End the key ${ending.name}?`}
          action="End it now"
          isDanger
          onDone={() => setEnding(undefined)}
          onConfirm={() => revoke.mutateAsync(ending.id)}
        >
          <p>
            Whoever works with it is refused from now on{ending.id === current?.keyId ? ', and that is you' : ''}. It
            cannot be brought back.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

function KeyState({ apiKey: { revokedAt, expiresAt } }: { readonly apiKey: ApiKey }): ReactElement {
  if (revokedAt !== null) return <State tone="off">Ended</State>;
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
  const [bundle, setBundle] = useState('read');
  const [days, setDays] = useState('90');
  const create = useChange((body: object) => request<ApiKey & { readonly key: string }>('POST', '/keys', body));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const expiresAt = days === '' ? null : new Date(Date.now() + Number(days) * 86_400_000).toISOString();
    create.mutate({ name, scopes: bundles[bundle]?.scopes ?? [], expiresAt });
  };
  return (
    <Card title="Make a key">
      {create.data === undefined ? (
        <form onSubmit={submit}>
          <Field label="Name" hint="Who will use it, and what for.">
            {(ids) => (
              <input {...ids} required maxLength={250} value={name} onChange={(event) => setName(event.target.value)} />
            )}
          </Field>
          <Field label="It may" hint={bundles[bundle]?.scopes.join(', ')}>
            {(ids) => (
              <select {...ids} value={bundle} onChange={(event) => setBundle(event.target.value)}>
                {Object.entries(bundles).map(([id, { label }]) => (
                  <option key={id} value={id}>
                    {label}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Days it is valid" hint="Empty: until it is ended.">
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
            <button className="primary" type="submit" disabled={create.isPending}>
              Make it
            </button>
          </div>
        </form>
      ) : (
        <div className="stack" role="status">
          <p className="note warn">Take it now: it is not shown again.</p>
          <Code label={`The key of ${create.data.name}`} text={create.data.key} />
        </div>
      )}
    </Card>
  );
}
