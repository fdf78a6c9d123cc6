import { setTimeout as wait } from 'node:timers/promises';
import { retryDelayMs } from './consumer-control.ts';
import type { ConsumerControl } from './consumer-control.ts';
import type { TroubleReports } from './consumer-trouble.ts';
import { ConsumerTakenError } from './consumers.ts';
import type { OwnedConsumer } from './consumers.ts';
import type { RunState } from './run-state.ts';
import type { TakenMessages } from './taken-messages.ts';

export type RewindsOptions = {
  readonly control: Pick<ConsumerControl, 'rewind' | 'skip'>;
  readonly taken: Pick<TakenMessages, 'finished' | 'rewound' | 'skipTo'>;
  readonly state: Pick<RunState, 'isClosed' | 'lose'>;
  readonly trouble: Pick<TroubleReports, 'failed' | 'recreated'>;
  /** The `consumerSeq` of the first message. */
  readonly nextConsumerSeq: number;
  isConnected(): boolean;
  /** The consumer is after `upTo`. */
  onSkipped(upTo: number): void;
  /** The server will deliver unfinished messages again, once they are requested. */
  onRewound(): void;
};

/** The next rewind skips messages up to `upTo`. */
type Skip = { readonly upTo: number; resolve(messages: number): void };

/**
 * A reader's position in its consumer: the `consumerSeq` of the next message, and the rewinds, one at a time. A rewind
 * requested during another rewind follows it, and the reader pulls only after the last rewind.
 */
export class Rewinds {
  readonly #options: RewindsOptions;
  #nextConsumerSeq: number;
  #skip: Skip | undefined;
  #isWanted = false;
  #running: Promise<void> | undefined;

  constructor(options: RewindsOptions) {
    this.#options = options;
    this.#nextConsumerSeq = options.nextConsumerSeq;
  }

  /** Whether a rewind must end before messages are requested. */
  get isPending(): boolean {
    return this.#isWanted || this.#running !== undefined;
  }

  /** Counts a message if it is the next one; false if messages before it did not arrive. */
  isNext(consumerSeq: number): boolean {
    if (consumerSeq !== this.#nextConsumerSeq) return false;
    this.#nextConsumerSeq += 1;
    return true;
  }

  /** Requests a rewind, which the next `start` or the running rewind carries out. */
  want(): void {
    this.#isWanted = true;
  }

  /**
   * Rewinds after `delayMs` if a rewind is requested and none is running. Without a connection the next `start`
   * rewinds.
   */
  start(delayMs: number): void {
    this.#running ??= this.#untilDone(delayMs).finally(() => {
      this.#running = undefined;
      if (!this.#isWanted && !this.#options.state.isClosed) this.#options.onRewound();
    });
  }

  /**
   * Makes the next rewind skip messages up to `upTo`. Resolves with their approximate number; 0 if the log does not
   * reach `upTo`, or if another call or the close comes first.
   */
  skipTo(upTo: number): Promise<number> {
    this.#skip?.resolve(0);
    return new Promise((resolve) => {
      this.#skip = { upTo, resolve };
    });
  }

  /** Cancels the skip. */
  close(): void {
    this.#skip?.resolve(0);
  }

  async #untilDone(delayMs: number): Promise<void> {
    const { control, taken, state, trouble, isConnected } = this.#options;
    if (delayMs > 0) await wait(delayMs);
    while (this.#isWanted && !state.isClosed && isConnected()) {
      this.#isWanted = false;
      try {
        const owned = await this.#skipped(await control.rewind(taken.finished));
        if (owned.isNew) trouble.recreated();
        taken.rewound(owned.ackedSeq);
        this.#nextConsumerSeq = owned.nextConsumerSeq;
      } catch (error) {
        if (error instanceof ConsumerTakenError) {
          state.lose(error);
          return;
        }
        this.#isWanted = true;
        trouble.failed(error);
        await wait(retryDelayMs);
      }
    }
  }

  /** Moves the consumer past the messages to be skipped, if there are any. */
  async #skipped(owned: OwnedConsumer): Promise<OwnedConsumer> {
    const skip = this.#skip;
    if (skip === undefined) return owned;
    const made = await this.#options.control.skip(owned, skip.upTo);
    if (made !== owned || owned.ackedSeq >= skip.upTo) this.#options.onSkipped(skip.upTo);
    // A skip requested meanwhile is for the next rewind.
    if (this.#skip === skip) this.#skip = undefined;
    const known = made === owned ? 0 : this.#options.taken.skipTo(skip.upTo, Date.now());
    skip.resolve(made === owned ? 0 : Math.max(0, owned.unfinished - made.unfinished - known));
    return made;
  }
}
