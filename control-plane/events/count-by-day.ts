import type { Queryable } from '../../shared/visitors/visitor-statements.ts';

/** How many events of a name happened on a day (UTC). */
export type DayCount = {
  readonly event: string;
  /** As `2026-11-22`. */
  readonly day: string;
  readonly events: number;
  /** Whether some of these events also represent events that are not in the view. */
  readonly isSampled: boolean;
};

export type DayCounts = {
  readonly counts: readonly DayCount[];
  /** When the account's oldest event in the view was received; undefined if it has no events. */
  readonly since: Date | undefined;
};

export type CountFilters = {
  /** The first and the last day, as `2026-11-22`. */
  readonly firstDay: string | undefined;
  readonly lastDay: string | undefined;
  readonly sourceId: string | undefined;
  readonly test: boolean | undefined;
};

/**
 * Counts the events of the recent-events view that passed their tracking plan, by name and day, with at most `limit`
 * counts. Each event adds the number of events that it represents.
 */
export async function countByDay(
  db: Queryable,
  accountId: string,
  { firstDay, lastDay, sourceId, test }: CountFilters,
  limit: number,
): Promise<DayCounts> {
  const { rows } = await db.query<{ event: string; day: string; events: string; isSampled: boolean }>(
    `select name as event, to_char(time at time zone 'UTC', 'YYYY-MM-DD') as day, sum(sample_of) as events,
       bool_or(sample_of > 1) as "isSampled"
     from recent_events where account_id = $1 and visitor_id <> ''
       and ($2::date is null or time >= ($2::date)::timestamp at time zone 'UTC')
       and ($3::date is null or time < ($3::date + 1)::timestamp at time zone 'UTC')
       and ($4::text is null or source_id = $4) and ($5::boolean is null or test = $5)
     group by 1, 2 order by 2, 1 limit $6`,
    [accountId, firstDay ?? null, lastDay ?? null, sourceId ?? null, test ?? null, limit],
  );
  const oldest = await db.query<{ since: Date | null }>(
    'select min(received_at) as since from recent_events where account_id = $1',
    [accountId],
  );
  return {
    counts: rows.map(({ events, ...row }) => ({ ...row, events: Number(events) })),
    since: oldest.rows[0]?.since ?? undefined,
  };
}
