import type { Periodic } from '../../../../shared/runtime/every.ts';
import { withDeadline } from '../../../../shared/runtime/deadline.ts';
import type { PullConsumer } from '../../../../shared/nats/consume/pull-consumer.ts';
import type { FrameOpener } from '../events/opened-frames.ts';
import type { HealthKeeper } from '../health/health-keeper.ts';
import type { Sending } from '../sending/sending.ts';
import type { Settlement } from '../settlement/settlement.ts';
import type { RoundBudget } from '../sources/round-budget.ts';
import type { FrameQuota } from '../sources/frame-quota.ts';
import type { Inbox } from '../sources/inbox.ts';
import type { RetryReader } from '../sources/retry-reader.ts';
import type { Sources } from '../sources/sources.ts';
import type { VisitorOrder } from '../waiting/visitor-order.ts';

type Draining = { readonly inbox: Inbox; readonly sending: Sending; readonly pullConsumer: PullConsumer };

/** Takes no more events. Events of the account's log that are not in flight are left to the next dispatcher. */
export function drainParts(
  { inbox, sending, pullConsumer }: Draining,
  { sources, settlement }: { readonly sources: Sources; readonly settlement: Settlement },
): Promise<void> {
  sources.close();
  settlement.handBackUnstarted();
  inbox.leaveUnopened();
  sending.remove(({ lane }) => lane === 'fresh');
  return pullConsumer.close();
}

type Closing = Draining & {
  /** Aborts the writes to the log. */
  readonly abort: AbortController;
  readonly opener: FrameOpener;
  readonly frameQuota: FrameQuota;
  readonly health: HealthKeeper;
  readonly retries: RetryReader;
  readonly visitorOrder: VisitorOrder | undefined;
  readonly lostHeads: Periodic | undefined;
};

/** Closing waits this long for the log to store the last counts, in ms. */
const storingMs = 1_000;

/** Ends the work in progress, and stores which events are settled if the log can be reached. Never rejects. */
export async function closeParts(parts: Closing, { budget }: { readonly budget: RoundBudget }): Promise<void> {
  const { abort, opener, frameQuota, pullConsumer, sending, health, inbox, retries, visitorOrder, lostHeads } = parts;
  abort.abort(new Error('the dispatcher ended'));
  budget.leave();
  opener.leave();
  frameQuota.leave();
  await Promise.allSettled([pullConsumer.close(), sending.close()]);
  const storing = async (): Promise<void> => {
    await health.stop();
    inbox.handBackAll();
    await Promise.all([retries.stop(), visitorOrder?.stop(), lostHeads?.stop()]);
  };
  // If the log cannot be reached, events whose counts are not stored are not acknowledged either, and are delivered
  // again.
  await withDeadline(Promise.allSettled([storing()]), storingMs);
}
