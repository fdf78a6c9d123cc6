import type { HealthKeeper } from '../health/health-keeper.ts';
import type { SourceActivity } from '../health/source-activity.ts';
import { attemptOutcome, attemptOutcomes } from '../sending/attempt-outcome.ts';
import type { AttemptOutcome } from '../sending/attempt-outcome.ts';
import type { Attempt } from '../sending/deliver.ts';
import type { DispatchItem } from '../sources/dispatch-item.ts';
import { countMove } from './count-move.ts';
import type { OutcomeObserver } from './outcome-observer.ts';

type AttemptRecords = {
  readonly counts: Record<'delivered' | 'limited_use' | 'failed_attempts' | `attempts_${AttemptOutcome}`, number>;
  readonly health: Pick<HealthKeeper, 'record' | 'countMove'>;
  readonly sourceActivity: Pick<SourceActivity, 'dispatched'>;
  readonly observe: OutcomeObserver;
};

/** Names of the counters, computed once: building a name takes longer than counting. */
const countedAs = Object.fromEntries(attemptOutcomes.map((outcome) => [outcome, `attempts_${outcome}`])) as {
  readonly [Of in AttemptOutcome]: `attempts_${Of}`;
};

/**
 * Counts the attempts of a batch, and reports those that delivered or dropped an event. Returns the number of delivered
 * events.
 */
export function countAttempts(
  { counts, health, sourceActivity, observe }: AttemptRecords,
  items: readonly DispatchItem[],
  attempts: readonly (Attempt | undefined)[],
): number {
  const nowMs = Date.now();
  let succeeded = 0;
  let dropped = 0;
  let failed = 0;
  let lastSourceId: string | undefined;
  // Counts the index by hand: in a loop over `entries()`, V8 of Node 20 allocates a pair for each event and its index.
  let index = -1;
  for (const item of items) {
    index += 1;
    const attempt = attempts[index];
    if (attempt === undefined) continue;
    counts[countedAs[attemptOutcome(attempt)]] += 1;
    if (attempt.outcome.kind === 'delivered') {
      succeeded += 1;
      if (item.isLimited) counts.limited_use += 1;
      const { sourceId } = item.head;
      if (sourceId !== lastSourceId) sourceActivity.dispatched(sourceId, nowMs);
      lastSourceId = sourceId;
      countMove(health, item, 'delivered');
      observe(item, 'delivered', item.attempts + 1);
    } else if (attempt.outcome.kind === 'dropped') {
      dropped += 1;
      countMove(health, item, `stopped platform ${attempt.outcome.reason}`);
      observe(item, 'stopped', item.attempts + 1, attempt.outcome.reason);
    } else {
      failed += 1;
    }
  }
  if (succeeded > 0) health.record('succeeded', succeeded);
  if (dropped > 0) health.record('stopped', dropped);
  if (failed > 0) health.record('failed', failed);
  counts.delivered += succeeded;
  counts.failed_attempts += failed;
  return succeeded;
}
