import type { ReactElement } from 'react';
import { Link } from 'react-router';
import { useScope } from '../api/accounts.ts';
import { useRead } from '../api/queries.ts';
import type { EventCounts } from '../api/types.ts';
import { At } from '../design/time.tsx';

/** Where a range begins before the list of events does: since when that has events, and where older ones are found. */
export function OlderEvents({ fromMs }: { readonly fromMs: number }): ReactElement | null {
  const mayList = useScope('event:list');
  // Only since when events are kept is asked for: the counts of no day are.
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
