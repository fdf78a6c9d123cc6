import type { PlatformError } from '../../shared/contracts/events/exchange.ts';
import type { Queryable } from '../../shared/visitors/visitor-statements.ts';
import { viewPlatformError } from './exchange-view.ts';

const reasonsMax = 50;

/**
 * Why events of the recent-events view are not delivered to a destination, by reason and by the platform's answer, the
 * most frequent first.
 */
export async function listFailures(db: Queryable, accountId: string, destinationId: string) {
  const { rows } = await db.query<{
    reason: string | null;
    outcome: 'retrying' | 'rejected';
    answer: PlatformError | null;
    events: string;
    last_at: Date;
    last_event_id: string;
  }>(
    `select o.reason, o.outcome, o.answer, sum(e.sample_of) as events, max(o.at) as last_at,
       (array_agg(o.event_id order by o.at desc))[1] as last_event_id
     from event_outcomes o join recent_events e on e.account_id = o.account_id and e.id = o.event_id and e.origin = o.origin
     where o.account_id = $1 and o.destination_id = $2 and o.outcome in ('retrying', 'rejected')
     group by o.reason, o.outcome, o.answer order by sum(e.sample_of) desc, max(o.at) desc limit ${reasonsMax}`,
    [accountId, destinationId],
  );
  return rows.map((row) => ({
    reason: row.reason ?? 'unknown',
    outcome: row.outcome,
    error: viewPlatformError(row.answer ?? undefined),
    events: Number(row.events),
    lastAt: row.last_at.toISOString(),
    lastEventId: row.last_event_id,
  }));
}
