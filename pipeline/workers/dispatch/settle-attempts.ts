import { attemptOutcome } from './sending/attempt-outcome.ts';
import { buryUnreadable } from './bury-unreadable.ts';
import type { Attempt } from './sending/deliver.ts';
import type { DeadLetterWriter } from './outbox/dead-letter-writer.ts';
import type { DispatchItem } from './dispatch-item.ts';
import type { NoteOutcome } from './outcome-noter.ts';
import type { RetryRecord } from '../../../shared/contracts/events/retry-record.ts';
import type { DeadLetterReason, DispatcherCounts } from './dispatcher-stats.ts';
import type { HealthKeeper } from './outbox/health-keeper.ts';
import type { RetryPolicy } from './outbox/retry-policy.ts';
import type { RetryWriter } from './outbox/retry-writer.ts';
import type { SourceActivity } from './outbox/source-activity.ts';
import type { VisitorOrder } from './visitor-order.ts';

export type SettlingContext = {
  readonly keeper: HealthKeeper;
  readonly retryPolicy: RetryPolicy;
  readonly retryWriter: RetryWriter;
  readonly deadLetters: DeadLetterWriter;
  readonly sourceActivity: SourceActivity;
  readonly counts: DispatcherCounts;
  /** Undefined where the destination keeps no order over failed attempts. */
  readonly order: VisitorOrder | undefined;
  readonly note: NoteOutcome;
  /** An event was delivered so long after it was accepted, in ms. */
  noteAge(ageMs: number): void;
  /** The event is where it belongs; its frame may be done. */
  onSettled(item: DispatchItem): void;
  /** It could not be brought there. */
  onFailed(error: unknown): void;
};

/**
 * Counts what became of each event and brings it where it goes next: nowhere, the retry log, or the dead letters. Events
 * without an attempt were not sent, since an earlier one of their visitor failed.
 */
export function settleAttempts(
  context: SettlingContext,
  items: readonly DispatchItem[],
  attempts: readonly (Attempt | undefined)[],
): void {
  const nowMs = Date.now();
  let succeeded = 0;
  let failed = 0;
  for (const [index, item] of items.entries()) {
    const attempt = attempts[index];
    if (attempt === undefined) continue;
    context.counts[`attempts_${attemptOutcome(attempt)}`] += 1;
    if (attempt.outcome.kind === 'delivered') {
      succeeded += 1;
      context.noteAge(nowMs - item.head.receivedAtMs);
      context.sourceActivity.dispatched(item.head.sourceId, nowMs);
      context.note(item, 'delivered', item.attempts + 1);
    } else {
      failed += 1;
    }
  }
  if (succeeded > 0) context.keeper.record('succeeded', succeeded);
  if (failed > 0) context.keeper.record('failed', failed);
  context.counts.delivered += succeeded;
  context.counts.failed_attempts += failed;
  // Only now: what is settled counts as recorded.
  const following: Promise<void>[] = [];
  for (const [index, item] of items.entries()) {
    const attempt = attempts[index];
    if (attempt?.outcome.kind === 'delivered') {
      context.order?.done(item);
      context.onSettled(item);
    } else {
      following.push(moveOn(context, item, attempt, nowMs).then(() => context.onSettled(item)));
    }
  }
  context.order?.requestSettled();
  if (following.length > 0) void Promise.all(following).catch(context.onFailed);
}

function moveOn(
  context: SettlingContext,
  item: DispatchItem,
  attempt: Attempt | undefined,
  nowMs: number,
): Promise<unknown> {
  const { order } = context;
  if (attempt === undefined) {
    return order?.waitsBehind(item, item, 'waits behind an earlier event of its visitor') ?? Promise.resolve();
  }
  const { outcome, request } = attempt;
  if (outcome.kind === 'delivered') return Promise.resolve();
  const isOver = (): void => order?.done(item);
  if (!item.isReadable) return buryUnreadable(context, item.line).then(isOver);
  const attempts = item.attempts + 1;
  const firstAttemptAt = item.firstAttemptAtMs ?? nowMs;
  const made = {
    attempts,
    firstAttemptAt,
    lastAttemptAt: nowMs,
    reason: outcome.reason,
    ...(request === undefined ? {} : { request }),
    event: item.resolved,
  };
  const bury = (why: DeadLetterReason, reason: string): Promise<void> => {
    context.counts.dead_letters += 1;
    context.counts[`dead_letters_${why}`] += 1;
    context.note(item, 'rejected', attempts, reason);
    return context.deadLetters.add({ ...made, reason }).then(isOver);
  };
  if (outcome.kind === 'reject') return bury('refused', outcome.reason);
  const { afterMs } = outcome;
  const failure = { attempts, firstAttemptAtMs: firstAttemptAt, nowMs, afterMs };
  const decision = context.retryPolicy.next(failure, Math.random());
  if (decision.kind === 'give-up') return bury('exhausted', `no attempt left: ${outcome.reason}`);
  if (order?.isNext(item) === false) {
    return order.waitsBehind(item, { attempts, firstAttemptAtMs: firstAttemptAt }, outcome.reason);
  }
  context.counts.retries += 1;
  context.note(item, 'retrying', attempts, outcome.reason);
  const record = { v: 1, ...made, notBefore: decision.notBeforeMs } as const;
  const stored = context.retryWriter.add(decision.tier, record, attemptIdOf(item, record));
  order?.storing(item, stored);
  return stored;
}

/** Puts an event of the retry log back there: it may not be sent now, and nothing was tried. */
export function putBack({ retryWriter, order, onSettled, onFailed }: SettlingContext, item: DispatchItem): void {
  order?.waitsAgain(item);
  const nowMs = Date.now();
  const { attempts, firstAttemptAtMs = nowMs, resolved: event } = item;
  const times = { firstAttemptAt: firstAttemptAtMs, lastAttemptAt: nowMs, notBefore: nowMs };
  const record = { v: 1, attempts, ...times, reason: 'switched off', event } as const;
  retryWriter
    .add(0, record, `${item.head.id}:${attempts}:${firstAttemptAtMs}:${nowMs}`)
    .then(() => onSettled(item), onFailed);
}

/**
 * Names an attempt. What comes from the retry log is told apart by its first attempt: a replay begins to count anew,
 * and the log would take its attempt for the one of before, and drop it.
 */
function attemptIdOf({ lane, head }: DispatchItem, { attempts, firstAttemptAt }: RetryRecord): string {
  return lane === 'fresh' ? `${head.id}:${attempts}` : `${head.id}:${attempts}:${firstAttemptAt}`;
}
