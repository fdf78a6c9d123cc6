import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import type { EventCounts } from '../api/types.ts';
import { At } from '../design/time.tsx';

/** A note for a range that begins before the event list: where the list starts, and where older events are. */
export function OlderEvents({ fromMs }: { readonly fromMs: number }): ReactElement | null {
  const mayList = useScope('event:list');
  // Requests a day that has no events, because only the start of the list (`since`) is needed.
  const kept = useRead<EventCounts>('/events/counts?firstDay=1970-01-01&lastDay=1970-01-01', { enabled: mayList });
  const since = kept.data?.since ?? null;
  if (since === null || Date.parse(since) <= fromMs) return null;
  return (
    <div className="note">
      <p>
        The event list starts at <At at={since} />. For older events, <Link to="/events/search">search the log</Link> by
        order id, event id or visitor.
      </p>
    </div>
  );
}
