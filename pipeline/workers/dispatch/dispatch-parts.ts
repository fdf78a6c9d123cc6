import type { Sender } from '../../../shared/egress/sender.ts';
import type { DeliveryOrder } from '../../../shared/destinations/common-settings.ts';
import type { PullConsumer } from '../../../shared/nats/consume/pull-consumer.ts';
import type { DeadLetterWriter } from './outbox/dead-letter-writer.ts';
import type { SettledPart } from './inbox/dispatch-place.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import type { DispatcherCounts } from './dispatcher-stats.ts';
import type { HealthKeeper } from './outbox/health-keeper.ts';
import type { RetryReader } from './outbox/retry-reader.ts';
import type { ParkedFrames } from './outbox/parked-frames.ts';
import type { RetryWriter } from './outbox/retry-writer.ts';
import type { WaitingVisitors } from './outbox/waiting-visitors.ts';

/** The index of what waits, and the frames of the retry log it points into. */
export type Waits = { readonly waiting: WaitingVisitors; readonly frames: ParkedFrames };

/** What the work of a dispatcher is put together from. */
export type DispatchParts = {
  readonly options: DispatcherOptions;
  readonly counts: DispatcherCounts;
  readonly keeper: HealthKeeper;
  readonly pullConsumer: PullConsumer;
  readonly abort: AbortController;
  readonly deadLetters: DeadLetterWriter;
  readonly sender: Sender;
  readonly retryWriter: RetryWriter;
  readonly retryReader: () => RetryReader;
  /** What an earlier dispatcher had settled of frames it did not finish. */
  readonly settledBefore: Map<number, SettledPart>;
  readonly order: DeliveryOrder;
  /** What waits of each visitor; undefined where the destination keeps no order over failed attempts. */
  readonly waits: Waits | undefined;
  onAcknowledged(seq: number): void;
  /** The version that runs says otherwise than `order`. */
  onOrderChanged(): void;
};
