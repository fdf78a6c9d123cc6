import type { ReactElement } from 'react';
import { Link, useSearchParams } from 'react-router';
import type { Delivery, Funnel } from '../api/types.ts';
import { showCount, showShare } from '../design/numbers.ts';
import { Card } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { eventsLink } from './delivery-range.ts';
import type { EventsOf } from './delivery-range.ts';
import './delivery.css';

type LinkOf = Pick<EventsOf, 'destinationId' | 'fromMs' | 'toMs'>;

const stages = [
  ['received', 'Received', 'accent', undefined],
  ['filtered', 'Stopped or skipped', 'off', undefined],
  ['waiting', 'Waiting', 'warn', 'retrying'],
  ['retrying', 'Retrying', 'warn', 'retrying'],
  ['deadLetters', 'Dead letters', 'bad', 'rejected'],
  ['delivered', 'Delivered', 'good', 'delivered'],
] as const;

type FunnelProps = { readonly total: Funnel; readonly link: LinkOf; readonly event: string };

/** The stages of delivery in order, each as a bar in proportion to the number of events received. */
export function DeliveryFunnel({ total, link, event }: FunnelProps): ReactElement {
  const all = total.received + total.replayed;
  const name = event === '' ? {} : { name: event };
  const searchOf = useSearchOf();
  return (
    <ol className="funnel" aria-label="Stages">
      {stages.map(([stage, label, tone, outcome]) => {
        const count = stage === 'received' ? all : total[stage];
        const reasons = { search: searchOf(event), hash: '#filtered' };
        const to = stage === 'filtered' ? reasons : eventsLink({ ...link, ...name, outcome });
        return (
          <li key={stage}>
            <Link to={to}>
              <span className="stage">{label}</span>
              <span className="bar" aria-hidden="true">
                <span className={tone} style={{ width: `${Math.min(100, (count / all) * 100)}%` }} />
              </span>
              <span className="count">{showCount(count)}</span>
              <span className="hint">{stage === 'received' ? '' : showShare(count / all)}</span>
            </Link>
            <Hint stage={stage} total={total} />
          </li>
        );
      })}
    </ol>
  );
}

function Hint({ stage, total }: { readonly stage: string; readonly total: Funnel }): ReactElement | null {
  const text =
    stage === 'received' && total.replayed > 0
      ? `${showCount(total.replayed)} of them by a replay`
      : stage === 'delivered' && total.deliveredLate > 0
        ? `${showCount(total.deliveredLate)} of them after a failed attempt`
        : '';
  return text === '' ? null : <span className="hint">{text}</span>;
}

/** Returns the query of this page for an event name, in the same range. */
function useSearchOf(): (event: string) => string {
  const [search] = useSearchParams();
  return (event) => {
    const next = new URLSearchParams(search);
    if (event === '') next.delete('event');
    else next.set('event', event);
    return `?${next.toString()}`;
  };
}

const otherNames = 'All other names';

/** The counts of the stages by event name. */
export function NamesTable({
  names,
  link,
}: {
  readonly names: Delivery['names'];
  readonly link: LinkOf;
}): ReactElement {
  const searchOf = useSearchOf();
  return (
    <Card title="By event name" isFlush>
      <Table
        label="By event name"
        rows={names}
        keyOf={({ event }) => event ?? ''}
        columns={[
          {
            title: 'Event',
            cell: ({ event }) =>
              event === null ? (
                <>
                  {otherNames} <span className="hint">only 20 names are counted separately</span>
                </>
              ) : (
                <Link className="clip" dir="auto" to={{ search: searchOf(event) }}>
                  {event}
                </Link>
              ),
          },
          ...stages.map(([stage, title, , outcome]) => ({
            title,
            isNumber: true,
            cell: (row: Delivery['names'][number]) => {
              const count = stage === 'received' ? row.received + row.replayed : row[stage];
              if (count === 0 || row.event === null) return showCount(count);
              if (stage === 'filtered')
                return <Link to={{ search: searchOf(row.event), hash: '#filtered' }}>{showCount(count)}</Link>;
              return <Link to={eventsLink({ ...link, name: row.event, outcome })}>{showCount(count)}</Link>;
            },
          })),
        ]}
      />
    </Card>
  );
}
