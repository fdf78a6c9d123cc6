import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import type { Activity, ActivityDestination } from '../api/types.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { HealthState } from '../design/health-state.tsx';
import { countOf, showCount } from '../design/numbers.ts';
import { LongTable } from '../design/long-table.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import type { Column } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';

const states = { all: 'All', live: 'Live', failing: 'Failing or with a backlog', off: 'Not live' } as const;
type StateFilter = keyof typeof states;

/** Every destination with how it is doing; the list may be long. */
export function DestinationsPage(): ReactElement {
  const query = useRead<Activity>('/activity?range=24h', { everyMs: 10_000 });
  const [search, setSearch] = useSearchParams();
  const text = search.get('q') ?? '';
  const state = stateOf(search.get('state'));
  const mayCreate = useScope('destination:create');
  const choose = (name: string, value: string): void => {
    const next = new URLSearchParams(search);
    if (value === '' || value === 'all') next.delete(name);
    else next.set(name, value);
    setSearch(next, { replace: true });
  };
  const all = query.data?.destinations ?? [];
  const shown = all.filter((one) => isShown(one, text, state)).toSorted((a, b) => urgency(b) - urgency(a));
  return (
    <Page
      title="Destinations"
      lead="Where events go. Failing destinations come first."
      actions={
        mayCreate ? (
          <Link className="button primary" to="/destinations/new">
            Add a destination
          </Link>
        ) : null
      }
    >
      <Waiting query={query} />
      {query.data === undefined ? null : all.length === 0 ? (
        <Card>
          <Empty title="No destinations yet.">
            <p>Choose a kind, fill in its settings, send a test event, and publish.</p>
            <Link className="button primary" to="/destinations/new">
              Add a destination
            </Link>
          </Empty>
        </Card>
      ) : (
        <>
          <form className="inline" role="search" onSubmit={(event) => event.preventDefault()}>
            <Field label="Name or kind">
              {(ids) => (
                <input {...ids} type="search" value={text} onChange={(event) => choose('q', event.target.value)} />
              )}
            </Field>
            <Field label="State">
              {(ids) => (
                <select {...ids} value={state} onChange={(event) => choose('state', event.target.value)}>
                  {Object.entries(states).map(([id, label]) => (
                    <option key={id} value={id}>
                      {label}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <p className="soft" role="status">
              {countOf(shown.length, 'destination')}
            </p>
          </form>
          <Card isFlush>
            {shown.length === 0 ? (
              <Empty title="No destinations match." />
            ) : (
              <LongTable label="Destinations" rows={shown} keyOf={({ id }) => id} columns={columns} />
            )}
          </Card>
        </>
      )}
    </Page>
  );
}

const columns: readonly Column<ActivityDestination>[] = [
  {
    title: 'Destination',
    cell: ({ id, name, type }) => (
      <>
        <Link className="clip" dir="auto" to={`/destinations/${id}`}>
          {name}
        </Link>
        <span className="hint">{type}</span>
      </>
    ),
  },
  {
    title: '24 hours',
    cell: ({ isLive, health }) => (isLive ? <HealthState health={health} /> : <State tone="off">Not live</State>),
  },
  { title: 'Delivered', isNumber: true, cell: ({ health }) => showCount(health.successCount) },
  { title: 'Failed', isNumber: true, cell: ({ health }) => showCount(health.failureCount) },
  { title: 'Waiting', isNumber: true, cell: ({ backlog }) => showCount(backlog.waitingFrames) },
  { title: 'Retrying', isNumber: true, cell: ({ backlog }) => showCount(backlog.retryingFrames) },
  { title: 'Dead letters', isNumber: true, cell: ({ backlog }) => showCount(backlog.deadLetters) },
  { title: 'Last attempt', cell: ({ health }) => <Ago at={health.lastDispatchedAt} /> },
];

function stateOf(text: string | null): StateFilter {
  return text !== null && text in states ? (text as StateFilter) : 'all';
}

function isShown(one: ActivityDestination, text: string, state: StateFilter): boolean {
  const wanted = text.trim().toLowerCase();
  if (!`${one.name} ${one.type}`.toLowerCase().includes(wanted)) return false;
  switch (state) {
    case 'all':
      return true;
    case 'live':
      return one.isLive;
    case 'off':
      return !one.isLive;
    case 'failing':
      return one.isLive && urgency(one) > 0;
  }
}

function urgency({ isLive, health, backlog, lately }: ActivityDestination): number {
  if (!isLive) return -1;
  const byStatus = { UNHEALTHY: 4, DEGRADED: 3, NO_DATA: 0, HEALTHY: 0 }[health.status];
  return Math.max(byStatus, lately.failed > 0 ? 2 : 0, backlog.deadLetters + backlog.retryingFrames > 0 ? 1 : 0);
}
