import type { HealthKeeper } from '../health/health-keeper.ts';

/** Counts an event as skipped that was resolved at a time, or between two, in ms since the epoch; health shows it. */
export function recordSkipped(
  {
    counts,
    health,
  }: { readonly counts: Record<'missed_events', number>; readonly health: Pick<HealthKeeper, 'missed'> },
  fromMs: number,
  toMs = fromMs,
): void {
  counts.missed_events += 1;
  health.missed(fromMs, 1, toMs);
}
