import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useRead } from '../api/queries.ts';
import type { Connection, Connections } from '../api/types.ts';
import { State, Waiting } from '../design/feedback.tsx';
import { HealthWord } from '../design/health-state.tsx';
import { countOf, showCount } from '../design/numbers.ts';
import { LongTable } from '../design/long-table.tsx';
import { Card, Empty, Page } from '../design/page.tsx';
import { At } from '../design/time.tsx';
import { MapPicture } from './map-picture.tsx';

/** With more sources or destinations the page is a list only: their lines could not be followed. */
const drawnMax = 25;

/** Which source feeds which destination, and what became of its events. */
export function MapPage(): ReactElement {
  const query = useRead<Connections>('/activity/connections', { everyMs: 10_000 });
  const map = query.data;
  return (
    <Page title="Map" lead="Which source feeds which destination in the live version, with the last 24 hours.">
      <Waiting query={query} />
      {map === undefined ? null : map.connections.length === 0 ? (
        <Card>
          <Empty title="Nothing is connected yet.">
            <p>Add a source and a destination, and publish the draft.</p>
            <Link to="/sources">Go to the sources</Link>
          </Empty>
        </Card>
      ) : (
        <Shown map={map} />
      )}
    </Page>
  );
}

function Shown({ map }: { readonly map: Connections }): ReactElement {
  const { sources, destinations, connections, since, isComplete } = map;
  const names = new Map([...sources, ...destinations].map(({ id, name }) => [id, name]));
  const healthOf = new Map(destinations.map(({ id, health, isEnabled }) => [id, isEnabled ? health : undefined]));
  return (
    <>
      {Math.max(sources.length, destinations.length) > drawnMax ? null : <MapPicture map={map} />}
      <Card title="Connections" isFlush>
        <div className="body">
          <p className="hint">
            {countOf(connections.length, 'connection')} of {countOf(sources.length, 'source')} and{' '}
            {countOf(destinations.length, 'destination')}. Events received since <At at={since} />, as things stand now.
            {isComplete ? '' : ' There are more connections than this list shows.'}
          </p>
        </div>
        <LongTable
          label="Connections"
          rows={connections}
          keyOf={({ sourceId, destinationId }) => `${sourceId} ${destinationId}`}
          columns={[
            {
              title: 'Source',
              cell: ({ sourceId, isAllowed }) => (
                <>
                  <Link className="clip" dir="auto" to={`/sources/${sourceId}`}>
                    {names.get(sourceId)}
                  </Link>
                  {isAllowed ? null : <span className="hint">no longer feeds it</span>}
                </>
              ),
            },
            {
              title: 'Destination',
              cell: ({ destinationId }) => (
                <Link className="clip" dir="auto" to={`/destinations/${destinationId}/delivery`}>
                  {names.get(destinationId)}
                </Link>
              ),
            },
            {
              title: 'State',
              cell: ({ destinationId }) => {
                const health = healthOf.get(destinationId);
                return health === undefined ? <State tone="off">Disabled</State> : <HealthWord status={health} />;
              },
            },
            { title: 'Received', isNumber: true, cell: (one) => count(one, one.received + one.replayed) },
            { title: 'Filtered', isNumber: true, cell: (one) => showCount(one.filtered) },
            { title: 'Pending', isNumber: true, cell: (one) => count(one, one.waiting + one.retrying, 'retrying') },
            { title: 'Dead letters', isNumber: true, cell: (one) => count(one, one.deadLetters, 'rejected') },
            { title: 'Delivered', isNumber: true, cell: (one) => count(one, one.delivered, 'delivered') },
          ]}
        />
      </Card>
    </>
  );
}

/** A number that leads to its events. */
function count({ sourceId, destinationId }: Connection, events: number, outcome?: string): ReactElement | string {
  if (events === 0) return '0';
  const query = new URLSearchParams({ view: 'before', sourceId, destinationId, range: '24h' });
  if (outcome !== undefined) query.set('outcome', outcome);
  return <Link to={`/events?${query.toString()}`}>{showCount(events)}</Link>;
}
