import type { Sender } from '../../shared/egress/sender.ts';
import type { Cursor } from '../../shared/log/cursor.ts';
import type { DeadLetterWriter } from './dead-letter-writer.ts';
import type { SettledPart } from './dispatch-place.ts';
import type { DispatcherOptions } from './dispatcher-context.ts';
import type { DispatcherCounts } from './dispatcher-stats.ts';
import type { HealthKeeper } from './health-keeper.ts';
import type { RetryReader } from './retry-reader.ts';
import type { RetryWriter } from './retry-writer.ts';

/** What the work of a dispatcher is put together from. */
export type DispatchParts = {
  readonly options: DispatcherOptions;
  readonly counts: DispatcherCounts;
  readonly keeper: HealthKeeper;
  readonly cursor: Cursor;
  readonly abort: AbortController;
  readonly deadLetters: DeadLetterWriter;
  readonly sender: Sender;
  readonly retryWriter: RetryWriter;
  readonly retryReader: () => RetryReader;
  /** What an earlier dispatcher had settled of frames it did not finish. */
  readonly settledBefore: Map<number, SettledPart>;
  onAcknowledged(seq: number): void;
};
