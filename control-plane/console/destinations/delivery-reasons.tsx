import type { ReactElement } from 'react';
import { Link } from 'react-router';
import type { Delivery } from '../api/types.ts';
import { showCount } from '../design/numbers.ts';
import { Card } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { eventsLink } from './delivery-range.ts';
import type { EventsOf } from './delivery-range.ts';

type ReasonsProps = {
  readonly delivery: Delivery;
  readonly link: Pick<EventsOf, 'destinationId' | 'fromMs' | 'toMs'>;
  readonly event: string;
};

const letterWords: Readonly<Record<string, string>> = {
  refused: 'Rejected by the platform, or not sendable',
  exhausted: 'Retries ran out',
  no_room: 'The retry log was full',
  unreadable: 'The events could not be read',
  over_budget: 'Their rules exceeded the cost limit',
  set_aside: 'Processing crashed repeatedly',
};

/** Why events were stopped or skipped, and why others became dead letters. */
export function DeliveryReasons({
  delivery: { filtered, deadLetters },
  link,
  event,
}: ReasonsProps): ReactElement | null {
  if (filtered.length + deadLetters.length === 0) return null;
  const name = event === '' ? {} : { name: event };
  return (
    <div className="columns" id="filtered">
      {filtered.length === 0 ? null : (
        <Card title="Stopped or skipped" isFlush>
          <Table
            label="Stopped or skipped"
            rows={filtered}
            keyOf={({ kind, rule }) => `${kind} ${rule ?? ''}`}
            columns={[
              { title: 'By', cell: (reason) => <Rule reason={reason} /> },
              {
                title: 'Events',
                isNumber: true,
                // Skipped events have no outcome, so no list of events can show them.
                cell: ({ kind, events }) =>
                  kind === 'skipped' ? (
                    showCount(events)
                  ) : (
                    <Link
                      to={eventsLink({ ...link, ...name, outcome: kind === 'category' ? 'globalStop' : 'stopped' })}
                    >
                      {showCount(events)}
                    </Link>
                  ),
              },
            ]}
          />
        </Card>
      )}
      {deadLetters.length === 0 ? null : (
        <Card title="Dead letters" isFlush>
          <Table
            label="Dead letters"
            rows={deadLetters}
            keyOf={({ reason }) => reason}
            columns={[
              { title: 'Reason', cell: ({ reason }) => letterWords[reason] ?? reason },
              {
                title: 'Events',
                isNumber: true,
                cell: ({ events }) => (
                  <Link to={eventsLink({ ...link, ...name, outcome: 'rejected' })}>{showCount(events)}</Link>
                ),
              },
            ]}
          />
        </Card>
      )}
    </div>
  );
}

function Rule({ reason: { kind, rule, name } }: { readonly reason: Delivery['filtered'][number] }): ReactElement {
  switch (kind) {
    case 'mapping':
      return (
        <>
          Mapping{' '}
          <Link dir="auto" to={`/rules/mappings/${encodeURIComponent(rule ?? '')}`}>
            {name ?? rule}
          </Link>
        </>
      );
    case 'category':
      return (
        <>
          Dispatch rule <Link to="/rules/dispatch">{rule}</Link>
        </>
      );
    case 'consent':
      return (
        <>
          Consent: <Link to={`/rules/purposes/${encodeURIComponent(rule ?? '')}`}>{rule}</Link> is not allowed
        </>
      );
    case 'erased':
      return <>The visitor was erased</>;
    case 'platform':
      return <span dir="auto">Discarded by the platform: {rule}</span>;
    case 'skipped':
      return <>Skipped while waiting: the rules no longer send it here, or it left the log</>;
    case 'other':
      return <>Other reasons</>;
  }
}
