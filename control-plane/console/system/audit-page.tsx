import { useState } from 'react';
import type { FormEvent, ReactElement } from 'react';
import { useSearchParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useChange, useList } from '../api/queries.ts';
import { readAll } from '../api/read-all.ts';
import type { ApiKey, AuditEntry, User } from '../api/types.ts';
import { ErrorNote, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { saveFile } from '../design/save-file.ts';
import { More, Table } from '../design/table.tsx';
import { TimeInput } from '../design/time-input.tsx';
import { At } from '../design/time.tsx';

const filterNames = ['action', 'actorId', 'visitorId', 'from', 'to'] as const;
type Filters = Readonly<Record<(typeof filterNames)[number], string>>;

/** Entries recorded before user accounts existed have no kind; nearly all of them are by API keys. */
const kinds: Readonly<Record<string, string>> = { user: 'User', key: 'API key', tool: 'Command line' };

/** The audit: who changed, published or read what, with filters and export. */
export function AuditPage(): ReactElement {
  const [search, setSearch] = useSearchParams();
  const [filters, setFilters] = useState(() => readFilters(search));
  const [shown, setShown] = useState(search);
  // The browser's back button changes the address: the form follows.
  if (shown.toString() !== search.toString()) {
    setShown(search);
    setFilters(readFilters(search));
  }
  const path = pathOf(search);
  const query = useList<AuditEntry>(`${path}${path.includes('?') ? '&' : '?'}limit=50`);
  const mayListKeys = useScope('key:list');
  const keys = useList<ApiKey>('/keys?limit=100', { enabled: mayListKeys });
  const users = useList<User>('/users?limit=100', { enabled: useScope('user:list') });
  const exported = useChange((format: 'csv' | 'json') => download(path, format));
  const apply = (event: FormEvent): void => {
    event.preventDefault();
    setSearch(Object.fromEntries(filterNames.flatMap((name) => (filters[name] === '' ? [] : [[name, filters[name]]]))));
  };
  const change = (name: keyof Filters) => (event: { readonly target: { readonly value: string } }) =>
    setFilters({ ...filters, [name]: event.target.value });
  return (
    <Page
      title="Audit"
      lead="Who changed, published or read what, newest first."
      actions={
        <>
          {(['csv', 'json'] as const).map((format) => (
            <button key={format} type="button" disabled={exported.isPending} onClick={() => exported.mutate(format)}>
              Export {format.toUpperCase()}
            </button>
          ))}
        </>
      }
    >
      <Card>
        <form className="inline" role="search" onSubmit={apply}>
          <Field label="Action">
            {(ids) => <input {...ids} value={filters.action} placeholder="visitor.read" onChange={change('action')} />}
          </Field>
          <Field label="By">
            {(ids) => (
              <select {...ids} value={filters.actorId} onChange={change('actorId')}>
                <option value="">Everyone</option>
                <optgroup label="Users">
                  {users.entities.map(({ id, email }) => (
                    <option key={id} value={id}>
                      {email}
                    </option>
                  ))}
                </optgroup>
                <optgroup label="API keys">
                  {keys.entities.map(({ id, name }) => (
                    <option key={id} value={id}>
                      {name}
                    </option>
                  ))}
                </optgroup>
              </select>
            )}
          </Field>
          <Field label="Visitor id">
            {(ids) => <input {...ids} value={filters.visitorId} onChange={change('visitorId')} />}
          </Field>
          <TimeInput
            label="From (UTC)"
            of="day"
            value={filters.from}
            onChange={(from) => setFilters({ ...filters, from })}
          />
          <TimeInput
            label="Before (UTC)"
            of="day"
            value={filters.to}
            onChange={(to) => setFilters({ ...filters, to })}
          />
          <button type="submit">Filter</button>
        </form>
      </Card>
      <ErrorNote error={exported.error} />
      {exported.data === false ? (
        <p className="note warn" role="status">
          The newest 10,000 entries: narrow the dates for the rest.
        </p>
      ) : null}
      <Waiting query={query} />
      <Card isFlush>
        {query.isSuccess && query.entities.length === 0 ? <Empty title="No entry matches." /> : null}
        {query.entities.length === 0 ? null : (
          <Table
            label="Audit entries"
            rows={query.entities}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Time', cell: ({ at }) => <At at={at} /> },
              {
                title: 'By',
                cell: ({ actorName, actorKind }) => (
                  <div className="stack tight">
                    <span className="clip" dir="auto">
                      {actorName}
                    </span>
                    <span className="hint">{kinds[actorKind ?? 'key'] ?? actorKind}</span>
                  </div>
                ),
              },
              { title: 'Action', cell: ({ action }) => action },
              { title: 'Object', cell: ({ collection, entityId }) => collection ?? entityId?.slice(0, 12) ?? '–' },
              { title: 'Details', cell: ({ details }) => <span className="mono clip">{JSON.stringify(details)}</span> },
            ]}
          />
        )}
        <More query={query} />
      </Card>
    </Page>
  );
}

const readFilters = (search: URLSearchParams): Filters =>
  Object.fromEntries(filterNames.map((name) => [name, search.get(name) ?? ''])) as Filters;

/** Path of the list, with the filters of the page's query; a day begins at midnight UTC. */
function pathOf(search: URLSearchParams): string {
  const query = new URLSearchParams();
  for (const name of filterNames) {
    const value = search.get(name) ?? '';
    if (value !== '') query.set(name, name === 'from' || name === 'to' ? `${value}T00:00:00Z` : value);
  }
  const text = query.toString();
  return text === '' ? '/audit' : `/audit?${text}`;
}

/** Saves the entries as a file. Returns whether the file has all of them. */
async function download(path: string, format: 'csv' | 'json'): Promise<boolean> {
  const { entities: entries, isComplete } = await readAll<AuditEntry>(path);
  saveFile(`audit.${format}`, format === 'json' ? JSON.stringify(entries, undefined, 2) : csvOf(entries));
  return isComplete;
}

const columns = ['at', 'actorKind', 'actorId', 'actorName', 'action', 'collection', 'entityId', 'details'] as const;

function csvOf(entries: readonly AuditEntry[]): string {
  const cell = (value: unknown): string => {
    const text = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
    // The apostrophe keeps a spreadsheet from running the text as a formula.
    return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
  };
  const rows = entries.map((entry) => columns.map((name) => cell(entry[name])).join(','));
  return [columns.join(','), ...rows, ''].join('\r\n');
}
