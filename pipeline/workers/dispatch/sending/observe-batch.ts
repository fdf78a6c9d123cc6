import type { AnswerTimes } from './answer-times.ts';
import type { Delivered } from './deliver.ts';
import type { DeliveryTimings } from './delivery-timings.ts';
import type { Batch } from './sending.ts';

type Observing = {
  readonly timings: DeliveryTimings;
  readonly destinationType: string;
  readonly answerTimes: AnswerTimes;
  readonly counts: Record<'requests', number>;
};

/** Measures a batch that has ended: its requests, how long they took, and how old the delivered events were. */
export function observeBatch(
  { timings, destinationType, answerTimes, counts }: Observing,
  { items, startedMs }: Batch,
  { requests, attempts }: Delivered,
): void {
  const { dispatchDuration, eventAge } = timings.of(destinationType);
  counts.requests += requests;
  if (requests > 0) {
    const tookMs = performance.now() - startedMs;
    dispatchDuration.observe(tookMs / 1_000);
    answerTimes.observe(tookMs);
  }
  const nowMs = Date.now();
  for (const [index, { head }] of items.entries()) {
    if (attempts[index]?.outcome.kind === 'delivered') eventAge.observe((nowMs - head.receivedAtMs) / 1_000);
  }
}
