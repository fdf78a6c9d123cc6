import { useEffect, useState } from 'react';
import type { ReactElement } from 'react';
import type { RecentEvent } from '../api/types.ts';
import { useLive } from '../api/use-live.ts';
import { ErrorNote, Loading, State } from '../design/feedback.tsx';
import { Card } from '../design/page.tsx';
import { fits } from './event-filters.ts';
import type { EventFilters } from './event-filters.ts';
import { EventTable } from './event-table.tsx';
import { PastEvents } from './past-events.tsx';

type ListProps = { readonly filters: EventFilters; readonly nameOf: (sourceId: string) => string };

/** Events as they arrive. If none of the newest events passes the filters, past events are shown below. */
export function LiveEvents({ filters, nameOf }: ListProps): ReactElement {
  const { value, isConnected, error } = useLive<{ readonly events: readonly RecentEvent[] }>('/events/stream');
  const [held, setHeld] = useState<readonly RecentEvent[]>();
  const newest = value?.events;
  useEffect(() => setHeld(undefined), [filters]);
  const shown = (held ?? newest)?.filter((event) => fits(event, filters));
  return (
    <>
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
          <EventTable events={shown} nameOf={nameOf} destinationId={filters.destinationId} isLive />
        )}
      </Card>
      {shown?.length === 0 ? <PastEvents filters={filters} nameOf={nameOf} /> : null}
    </>
  );
}
