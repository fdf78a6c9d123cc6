import type { Queryable } from '../../shared/visitors/visitor-statements.ts';

/** Events of one source that were received in one step of time, by when the step began, in ms since the epoch. */
export type SourceStep = {
  readonly sourceId: string;
  readonly at: number;
  readonly events: number;
  readonly test: number;
};

/**
 * Counts the events of the recent-events view by source and step of time, each for as many as it stands for. Events that
 * have left the view are not counted.
 */
export async function countEvents(
  db: Queryable,
  accountId: string,
  { fromMs, stepMs }: { readonly fromMs: number; readonly stepMs: number },
): Promise<SourceStep[]> {
  const { rows } = await db.query<{ source_id: string; step: string; events: string; test: string }>(
    `select source_id, floor(extract(epoch from received_at) * 1000 / $3) as step,
       coalesce(sum(sample_of) filter (where not test), 0) as events, coalesce(sum(sample_of) filter (where test), 0) as test
     from recent_events where account_id = $1 and received_at >= $2 group by 1, 2`,
    [accountId, new Date(fromMs), stepMs],
  );
  return rows.map((row) => ({
    sourceId: row.source_id,
    at: Number(row.step) * stepMs,
    events: Number(row.events),
    test: Number(row.test),
  }));
}
