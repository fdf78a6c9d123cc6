import type { ReactElement } from 'react';
import { Link } from 'react-router';
import type { Connection, Connections } from '../api/types.ts';
import { State } from '../design/feedback.tsx';
import { HealthWord } from '../design/health-state.tsx';
import { countOf } from '../design/numbers.ts';
import { Card } from '../design/page.tsx';
import './map.css';

const rowPx = 60;

/** Sources on the left, destinations on the right, and a line per connection; more events make a line thicker. */
export function MapPicture({
  sources,
  destinations,
  connections,
}: Pick<Connections, 'sources' | 'destinations'> & { readonly connections: readonly Connection[] }): ReactElement {
  const [left, right] = [sources, destinations].map((list) => new Map(list.map(({ id }, index) => [id, index])));
  const most = Math.max(1, ...connections.map(({ received, replayed }) => received + replayed));
  const middle = (index: number): number => index * rowPx + rowPx / 2;
  return (
    <Card title="Map">
      <div className="map">
        <ul className="ends" aria-label="Sources">
          {sources.map(({ id, name, events, isEnabled }) => (
            <li key={id}>
              <Link className="clip" dir="auto" to={`/sources/${id}`}>
                {name}
              </Link>
              {isEnabled ? (
                <span className="hint">{countOf(events, 'event')}</span>
              ) : (
                <State tone="off">Disabled</State>
              )}
            </li>
          ))}
        </ul>
        <svg
          aria-hidden="true"
          viewBox={`0 0 100 ${Math.max(sources.length, destinations.length) * rowPx}`}
          preserveAspectRatio="none"
          style={{ height: Math.max(sources.length, destinations.length) * rowPx }}
        >
          {connections.map((one) => {
            const [from, to] = [left?.get(one.source.id), right?.get(one.destination.id)];
            if (from === undefined || to === undefined) return null;
            const events = one.received + one.replayed;
            const tone =
              one.deadLetters > 0 ? 'bad' : one.waiting + one.retrying > 0 ? 'warn' : events > 0 ? 'good' : '';
            return (
              <path
                key={`${one.source.id} ${one.destination.id}`}
                className={tone}
                d={`M 0 ${middle(from)} C 50 ${middle(from)}, 50 ${middle(to)}, 100 ${middle(to)}`}
                strokeWidth={1 + (events / most) * 5}
              />
            );
          })}
        </svg>
        <ul className="ends" aria-label="Destinations">
          {destinations.map(({ id, name, health, isAccessRefused, isEnabled }) => (
            <li key={id}>
              <Link className="clip" dir="auto" to={`/destinations/${id}/delivery`}>
                {name}
              </Link>
              {isEnabled ? (
                <HealthWord status={health} isAccessRefused={isAccessRefused} />
              ) : (
                <State tone="off">Disabled</State>
              )}
            </li>
          ))}
        </ul>
      </div>
      <p className="legend map-legend">
        <span className="good">Delivered</span>
        <span className="warn">Some events wait or are retried</span>
        <span className="bad">Some events became dead letters</span>
        <span className="strong">No events in 24 hours</span>
      </p>
    </Card>
  );
}
