import { useEffect, useState } from 'react';
import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useList } from '../api/queries.ts';
import type { OutcomeName, RecentEvent, Source } from '../api/types.ts';
import { useLive } from '../api/use-live.ts';
import { ErrorNote, Loading, State, Waiting } from '../design/feedback.tsx';
import { Field } from '../design/field.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { More, Table } from '../design/table.tsx';
import { Ago } from '../design/time.tsx';
import { Outcomes, outcomeWords } from './outcomes.tsx';
import { useSourceNames } from './use-source-names.ts';

type Filters = {
  readonly sourceId: string;
  readonly event: string;
  readonly visitorId: string;
  readonly outcome: string;
};

const filterNames = ['sourceId', 'event', 'visitorId', 'outcome'] as const;

/** Live or past events, filtered by source, name, visitor and outcome. */
export function EventsPage(): ReactElement {
  const [search, setSearch] = useSearchParams();
  const filters = Object.fromEntries(filterNames.map((name) => [name, search.get(name) ?? ''])) as Filters;
  const isLive = search.get('view') !== 'before';
  const sources = useList<Source>('/sources?limit=100');
  const choose = (name: string, value: string): void => {
    const next = new URLSearchParams(search);
    if (value === '') next.delete(name);
    else next.set(name, value);
    setSearch(next, { replace: true });
  };
  const nameOf = useSourceNames();
  return (
    <Page
      title="Events"
      lead={isLive ? 'New events as they arrive.' : 'Past events, newest first, by event time.'}
      actions={
        <button type="button" onClick={() => choose('view', isLive ? 'before' : '')}>
          {isLive ? 'Show past events' : 'Follow live'}
        </button>
      }
    >
      <form className="inline" role="search" onSubmit={(event) => event.preventDefault()}>
        <Field label="Source">
          {(ids) => (
            <select {...ids} value={filters.sourceId} onChange={(event) => choose('sourceId', event.target.value)}>
              <option value="">All</option>
              {sources.entities.map(({ id, name, type }) => (
                <option key={id} value={id}>
                  {name ?? type}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Event name">
          {(ids) => (
            <input
              {...ids}
              type="search"
              value={filters.event}
              onChange={(event) => choose('event', event.target.value)}
            />
          )}
        </Field>
        <Field label="Visitor">
          {(ids) => (
            <input
              {...ids}
              type="search"
              value={filters.visitorId}
              onChange={(event) => choose('visitorId', event.target.value)}
            />
          )}
        </Field>
        <Field label="Outcome">
          {(ids) => (
            <select {...ids} value={filters.outcome} onChange={(event) => choose('outcome', event.target.value)}>
              <option value="">Any</option>
              {Object.entries(outcomeWords).map(([id, [, word]]) => (
                <option key={id} value={id}>
                  {word}
                </option>
              ))}
            </select>
          )}
        </Field>
      </form>
      {isLive ? <LiveEvents filters={filters} nameOf={nameOf} /> : <PastEvents filters={filters} nameOf={nameOf} />}
    </Page>
  );
}

type ListProps = { readonly filters: Filters; readonly nameOf: (sourceId: string) => string };

function LiveEvents({ filters, nameOf }: ListProps): ReactElement {
  const { value, isConnected, error } = useLive<{ readonly events: readonly RecentEvent[] }>('/events/stream');
  const [held, setHeld] = useState<readonly RecentEvent[]>();
  const newest = value?.events;
  useEffect(() => setHeld(undefined), [filters.sourceId, filters.event, filters.visitorId, filters.outcome]);
  const shown = (held ?? newest)?.filter((event) => fits(event, filters));
  return (
    <Card
      title="Newest events"
      isFlush
      aside={
        <span className="row">
          <span role="status">
            {isConnected ? <State tone="good">Live</State> : <State tone="off">Connecting …</State>}
          </span>
          <button
            type="button"
            className="plain"
            disabled={newest === undefined}
            onClick={() => setHeld(held === undefined ? newest : undefined)}
          >
            {held === undefined ? 'Pause' : 'Resume'}
          </button>
        </span>
      }
    >
      <ErrorNote error={error} />
      {shown === undefined ? (
        error === undefined ? (
          <Loading />
        ) : null
      ) : (
        <EventTable events={shown} nameOf={nameOf} isLive />
      )}
    </Card>
  );
}

/** As the interface would choose: names are compared as they are. */
function fits(event: RecentEvent, { sourceId, event: name, visitorId, outcome }: Filters): boolean {
  return (
    (sourceId === '' || event.sourceId === sourceId) &&
    (name === '' || event.event === name) &&
    (visitorId === '' || event.visitorId === visitorId) &&
    (outcome === '' || event.outcomes.some((one) => one.outcome === (outcome as OutcomeName)))
  );
}

function PastEvents({ filters, nameOf }: ListProps): ReactElement {
  const query = new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''));
  const events = useList<RecentEvent>(`/events?limit=50&${query.toString()}`);
  return (
    <Card title="Recent events" isFlush>
      <Waiting query={events} />
      {events.isSuccess ? <EventTable events={events.entities} nameOf={nameOf} /> : null}
      <More query={events} />
    </Card>
  );
}

type EventTableProps = {
  readonly events: readonly RecentEvent[];
  readonly nameOf: (sourceId: string) => string;
  readonly isLive?: boolean;
};

export function EventTable({ events, nameOf, isLive = false }: EventTableProps): ReactElement {
  if (events.length === 0) {
    return (
      <Empty title={isLive ? 'No events in the last few minutes.' : 'No events match.'}>
        <p>
          {isLive
            ? 'Send one: each source page has code to copy.'
            : 'Events are kept for a day. A busy account keeps a sample.'}
        </p>
        {isLive ? <Link to="/sources">Go to the sources</Link> : null}
      </Empty>
    );
  }
  return (
    <Table
      label="Events"
      rows={events}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Event',
          cell: ({ id, event }) => (
            <Link className="clip" dir="auto" to={`/events/${encodeURIComponent(id)}`}>
              {event}
            </Link>
          ),
        },
        { title: 'Outcome', cell: (event) => <Outcomes event={event} /> },
        { title: 'Received', cell: ({ receivedAt }) => <Ago at={receivedAt} /> },
        {
          title: 'Source',
          cell: ({ sourceId }) => (
            <span className="clip" dir="auto">
              {nameOf(sourceId)}
            </span>
          ),
        },
        {
          title: 'Visitor',
          // The tracking plan ended it before anything was known of its visitor.
          cell: ({ visitorId, visitor }) =>
            visitorId === '' ? null : (
              <Link className="clip short" dir="auto" to={`/visitors/${encodeURIComponent(visitorId)}`}>
                {typeof visitor['email'] === 'string' ? visitor['email'] : visitorId}
              </Link>
            ),
        },
      ]}
    />
  );
}
