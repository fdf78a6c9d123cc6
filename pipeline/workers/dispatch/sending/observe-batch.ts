import type { HealthKeeper } from '../health/health-keeper.ts';
import type { AnswerTimes } from './answer-times.ts';
import { attemptOutcome } from './attempt-outcome.ts';
import type { Delivered } from './deliver.ts';
import type { DeliveryTimings } from './delivery-timings.ts';
import type { Batch } from './sending.ts';

type Observing = {
  readonly timings: DeliveryTimings;
  readonly destinationType: string;
  readonly answerTimes: AnswerTimes;
  readonly health: Pick<HealthKeeper, 'countAnswer'>;
  readonly counts: Record<'requests', number>;
};

/** Records metrics of an ended batch: its requests, their times, and the age of the delivered events. */
export function observeBatch(
  { timings, destinationType, answerTimes, health, counts }: Observing,
  { items, startedMs }: Batch,
  { requests, attempts }: Delivered,
): void {
  const { dispatchDuration, eventAge } = timings.of(destinationType);
  counts.requests += requests;
  const nowMs = Date.now();
  let throttled = 0;
  for (const [index, { head }] of items.entries()) {
    const attempt = attempts[index];
    if (attempt?.outcome.kind === 'delivered') eventAge.observe((nowMs - head.receivedAtMs) / 1_000);
    else if (attempt !== undefined && attemptOutcome(attempt) === 'throttled') throttled += 1;
  }
  if (requests === 0) return;
  const tookMs = performance.now() - startedMs;
  dispatchDuration.observe(tookMs / 1_000);
  answerTimes.observe(tookMs);
  health.countAnswer(tookMs, throttled);
}
