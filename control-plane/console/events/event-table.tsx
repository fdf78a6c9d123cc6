import type { ReactElement, ReactNode } from 'react';
import { Link } from 'react-router';
import type { RecentEvent } from '../api/types.ts';
import { Empty } from '../design/page.tsx';
import { LongTable } from '../design/long-table.tsx';
import { Ago } from '../design/time.tsx';
import { Outcomes } from './outcomes.tsx';
import { useDestinationNames } from './use-destination-names.ts';

type EventTableProps = {
  readonly events: readonly RecentEvent[];
  readonly nameOf: (sourceId: string) => string;
  readonly isLive?: boolean;
  /** The destination that the list is filtered by. */
  readonly destinationId?: string;
  /** Selects rows; set only if an action on the selected rows is possible. */
  readonly choice?: EventChoice | undefined;
  /** Called when the last events are near the screen. */
  readonly onEnd?: () => void;
};

export type EventChoice = { readonly chosen: ReadonlySet<string>; toggle(id: string): void };

/** Events with their outcomes, source and visitor. */
export function EventTable({
  events,
  nameOf,
  isLive = false,
  destinationId,
  choice,
  onEnd,
}: EventTableProps): ReactElement {
  const destinationName = useDestinationNames();
  if (events.length === 0) {
    return (
      <Empty title={isLive ? 'No events in the last few minutes.' : 'No events match.'}>
        <p>
          {isLive
            ? 'Send one: each source page has code to copy.'
            : 'Change the filters, or search the log, which has every event.'}
        </p>
        {isLive ? <Link to="/sources">Go to the sources</Link> : null}
      </Empty>
    );
  }
  return (
    <LongTable
      label="Events"
      rows={events}
      keyOf={({ id, sourceId, visitorId }) => `${id} ${sourceId} ${visitorId}`}
      onEnd={onEnd}
      columns={[
        ...(choice === undefined ? [] : [choiceColumn(choice)]),
        {
          title: 'Event',
          cell: ({ id, event }) => (
            <Link className="clip" dir="auto" to={`/events/${encodeURIComponent(id)}`}>
              {event}
            </Link>
          ),
        },
        {
          title: 'Outcome',
          cell: (event) => <Outcomes event={event} destinationName={destinationName} filteredId={destinationId} />,
        },
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
          // Empty if the tracking plan quarantined or dropped the event before its visitor was known.
          cell: ({ visitorId, visitor }) =>
            visitorId === '' ? null : (
              <Link className="clip short" dir="auto" to={`/visitors/${encodeURIComponent(visitorId)}`}>
                {visitorName(visitor) ?? visitorId}
              </Link>
            ),
        },
      ]}
    />
  );
}

/** The name shown for a visitor: the e-mail address, else the external id; undefined for an anonymous visitor. */
export function visitorName({ email, external_id: externalId }: RecentEvent['visitor']): string | undefined {
  if (typeof email === 'string' && email !== '') return email;
  return typeof externalId === 'string' && externalId !== '' ? externalId : undefined;
}

function choiceColumn({ chosen, toggle }: EventChoice): {
  readonly title: string;
  cell(event: RecentEvent): ReactNode;
} {
  return {
    title: 'Choose',
    cell: ({ id, event }) => (
      <input
        type="checkbox"
        aria-label={`Choose ${event} ${id}`}
        checked={chosen.has(id)}
        onChange={() => toggle(id)}
      />
    ),
  };
}
