import type { SkipReason } from '../../../../shared/contracts/missed-ranges.ts';
import type { HealthKeeper } from '../health/health-keeper.ts';

export type SkipRecords = {
  readonly counts: Record<'missed_events', number>;
  readonly health: Pick<HealthKeeper, 'skipped'>;
};

/** Counts an event as skipped, also in health. `fromMs` and `toMs`: when it was resolved, in ms since the epoch. */
export function recordSkipped(
  { counts, health }: SkipRecords,
  reason: SkipReason,
  fromMs: number,
  toMs = fromMs,
): void {
  counts.missed_events += 1;
  health.skipped(reason, { fromMs, toMs, events: 1 });
}
