import { useEffect } from 'react';
import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useList } from '../api/queries.ts';
import type { Connection, Connections } from '../api/types.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { HealthWord } from '../design/health-state.tsx';
import { countOf, showCount } from '../design/numbers.ts';
import { LongTable } from '../design/long-table.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { At } from '../design/time.tsx';
import { MapPicture } from './map-picture.tsx';

/** The connections between sources and destinations, with the outcomes of their events. */
export function MapPage(): ReactElement {
  const query = useList<Connection, Connections>('/activity/connections?limit=100', { everyMs: 10_000 });
  const [map] = query.data?.pages ?? [];
  return (
    <Page
      title="Map"
      lead="Which source feeds which destination in the live version, with counts of the last 24 hours."
    >
      <Waiting query={query} />
      {map === undefined ? null : query.entities.length === 0 ? (
        <Card>
          <Empty title="Nothing is connected yet.">
            <p>Add a source and a destination, and publish the draft.</p>
            <Link to="/sources">Go to the sources</Link>
          </Empty>
        </Card>
      ) : (
        <Shown map={map} query={query} />
      )}
    </Page>
  );
}

type ShownProps = {
  readonly map: Connections;
  readonly query: {
    readonly entities: readonly Connection[];
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    fetchNextPage(): unknown;
  };
};

function Shown({ map: { since, totals, sources, destinations }, query }: ShownProps): ReactElement {
  const { entities: connections } = query;
  const isWhole = sources.length === totals.sources && destinations.length === totals.destinations;
  const readMore = (): void => {
    if (query.hasNextPage && !query.isFetchingNextPage) void query.fetchNextPage();
  };
  useEffect(() => {
    // The picture needs all connections. It is shown for few sources and destinations, which have few connections.
    if (isWhole) readMore();
  }, [isWhole, connections.length]);
  return (
    <>
      {isWhole ? <MapPicture sources={sources} destinations={destinations} connections={connections} /> : null}
      <Card title="Connections" isFlush>
        <div className="body">
          <p className="hint">
            {countOf(totals.sources, 'source')} and {countOf(totals.destinations, 'destination')}. Events received since{' '}
            <At at={since} />, with their current state.
          </p>
        </div>
        <LongTable
          label="Connections"
          rows={connections}
          keyOf={({ source, destination }) => `${source.id} ${destination.id}`}
          onEnd={readMore}
          columns={[
            {
              title: 'Source',
              cell: ({ source, isAllowed }) => (
                <>
                  <Link className="clip" dir="auto" to={`/sources/${source.id}`}>
                    {source.name}
                  </Link>
                  {isAllowed ? null : <span className="hint">no longer connected</span>}
                </>
              ),
            },
            {
              title: 'Destination',
              cell: ({ destination }) => (
                <Link className="clip" dir="auto" to={`/destinations/${destination.id}/delivery`}>
                  {destination.name}
                </Link>
              ),
            },
            {
              title: 'State',
              cell: ({ destination: { health, isAccessRefused, isEnabled } }) =>
                isEnabled ? (
                  <HealthWord status={health} isAccessRefused={isAccessRefused} />
                ) : (
                  <State tone="off">Disabled</State>
                ),
            },
            { title: 'Received', isNumber: true, cell: (one) => count(one, one.received + one.replayed) },
            { title: 'Stopped or skipped', isNumber: true, cell: (one) => showCount(one.filtered) },
            { title: 'Pending', isNumber: true, cell: (one) => count(one, one.waiting + one.retrying, 'retrying') },
            { title: 'Dead letters', isNumber: true, cell: (one) => count(one, one.deadLetters, 'rejected') },
            { title: 'Delivered', isNumber: true, cell: (one) => count(one, one.delivered, 'delivered') },
          ]}
        />
      </Card>
    </>
  );
}

/** A count, with a link to the events counted. */
function count({ source, destination }: Connection, events: number, outcome?: string): ReactElement | string {
  if (events === 0) return '0';
  const query = new URLSearchParams({
    view: 'before',
    sourceId: source.id,
    destinationId: destination.id,
    range: '24h',
  });
  if (outcome !== undefined) query.set('outcome', outcome);
  return <Link to={`/events?${query.toString()}`}>{showCount(events)}</Link>;
}
