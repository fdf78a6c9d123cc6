import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useList } from '../api/queries.ts';
import type { DestinationActivityPage, DestinationSummary } from '../api/types.ts';
import { useSettled } from '../api/use-settled.ts';
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

/** Every destination with its health. */
export function DestinationsPage(): ReactElement {
  const [search, setSearch] = useSearchParams();
  const text = search.get('q') ?? '';
  const state = stateOf(search.get('state'));
  const filters = useSettled(filtersOf(text, state));
  const query = useList<DestinationSummary, DestinationActivityPage>(`/activity/destinations?limit=100${filters}`, {
    everyMs: 10_000,
    keepsPrevious: true,
  });
  const mayCreate = useScope('destination:create');
  const choose = (name: string, value: string): void => {
    const next = new URLSearchParams(search);
    if (value === '' || value === 'all') next.delete(name);
    else next.set(name, value);
    setSearch(next, { replace: true });
  };
  // The list is ordered by health, so a destination may move to another page between two reads, and then appear twice.
  const shown = [...new Map(query.entities.map((one) => [one.id, one])).values()];
  const total = query.data?.pages.at(-1)?.total ?? 0;
  return (
    <Page
      title="Destinations"
      lead="Where events go. Failing destinations come first. A batch holds one or more events."
      actions={
        mayCreate ? (
          <Link className="button primary" to="/destinations/new">
            Add a destination
          </Link>
        ) : null
      }
    >
      <Waiting query={query} />
      {query.data === undefined ? null : total === 0 && filters === '' ? (
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
              {countOf(total, 'destination')}
            </p>
          </form>
          <Card isFlush>
            {shown.length === 0 ? (
              <Empty title="No destinations match." />
            ) : (
              <LongTable
                label="Destinations"
                rows={shown}
                keyOf={({ id }) => id}
                columns={columns}
                onEnd={() => {
                  if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
                }}
              />
            )}
          </Card>
        </>
      )}
    </Page>
  );
}

const columns: readonly Column<DestinationSummary>[] = [
  {
    title: 'Destination',
    cell: ({ id, name, label }) => (
      <>
        <Link className="clip" dir="auto" to={`/destinations/${id}`}>
          {name}
        </Link>
        <span className="hint">{label}</span>
      </>
    ),
  },
  {
    title: '24 hours',
    cell: ({ isLive, health, isAccessRefused }) =>
      isLive ? <HealthState {...{ health, isAccessRefused }} /> : <State tone="off">Not live</State>,
  },
  { title: 'Delivered', isNumber: true, cell: ({ health }) => showCount(health.successCount) },
  { title: 'Failed', isNumber: true, cell: ({ health }) => showCount(health.failureCount) },
  { title: 'Batches waiting', isNumber: true, cell: ({ backlog }) => showCount(backlog.waitingFrames) },
  { title: 'Batches retrying', isNumber: true, cell: ({ backlog }) => showCount(backlog.retryingFrames) },
  { title: 'Dead letters', isNumber: true, cell: ({ backlog }) => showCount(backlog.deadLetters) },
  { title: 'Last attempt', cell: ({ health }) => <Ago at={health.lastDispatchedAt} /> },
];

function stateOf(text: string | null): StateFilter {
  return text !== null && text in states ? (text as StateFilter) : 'all';
}

/** The query of the list; empty without filters. */
function filtersOf(text: string, state: StateFilter): string {
  const query = new URLSearchParams();
  if (text.trim() !== '') query.set('nameContains', text.trim());
  if (state !== 'all') query.set('state', state);
  return query.size === 0 ? '' : `&${query.toString()}`;
}
