import { eventsOfAccount } from '../../../../shared/contracts/subjects.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import type { SkipReason } from '../../../../shared/contracts/missed-ranges.ts';
import type { PullConsumer } from '../../../../shared/nats/consume/pull-consumer.ts';
import { readNext } from '../../../../shared/nats/messages/subject-log.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import type { Logger } from '../../../../shared/runtime/logger.ts';
import type { Sending } from '../sending/sending.ts';
import type { DispatchItem } from '../sources/dispatch-item.ts';
import { seqOf } from '../sources/frames-in-flight.ts';
import type { Inbox } from '../sources/inbox.ts';
import type { Settlement } from '../settlement/settlement.ts';

export type SkipAheadOptions = {
  readonly connection: LogConnection;
  readonly accountId: string;
  readonly destinationId: string;
  readonly pullConsumer: PullConsumer;
  readonly inbox: Inbox;
  readonly sending: Sending;
  readonly settlement: Settlement;
  readonly isRunning: () => boolean;
  readonly wake: () => void;
  readonly logger: Logger;
};

/**
 * If at most this many sequences have to be skipped, their frames are read, so that the count of skipped events is
 * exact.
 */
const readSkippedMax = 1_000;

/**
 * Skips events of the account's log up to a sequence, and records them as skipped. Reasons: they waited too long, they
 * take room that others need, or they may have been delivered before the position was lost.
 */
export class SkipAhead {
  readonly #options: SkipAheadOptions;
  /** Frames up to this sequence are skipped; 0 if no frames are skipped now. */
  #upToSeq = 0;
  #reason: SkipReason = 'retention';
  /** Whether skipped events may be in memory. */
  #mayHold = false;

  constructor(options: SkipAheadOptions) {
    this.#options = options;
  }

  /** Whether frames are skipped now. */
  get isSkipping(): boolean {
    return this.#upToSeq > 0;
  }

  /** Why a frame is skipped; undefined if it is not skipped. */
  reasonFor(seq: number): SkipReason | undefined {
    return seq <= this.#upToSeq ? this.#reason : undefined;
  }

  /** Skips frames up to a sequence; does nothing if they are already skipped. Never rejects. */
  async skipTo(upToSeq: number, reason: SkipReason): Promise<void> {
    const { pullConsumer, inbox, isRunning, wake, logger, destinationId } = this.#options;
    const { upTo } = pullConsumer.finished;
    if (upToSeq <= this.#upToSeq || upToSeq <= upTo || !isRunning()) return;
    this.#upToSeq = upToSeq;
    this.#reason = reason;
    this.#mayHold = true;
    wake();
    if (upToSeq - upTo <= readSkippedMax) return;
    // A longer backlog is not read: if a thousand destinations fetched one each, the log would become slow for every
    // account.
    try {
      const fromMs = await this.#storedAfter(upTo);
      inbox.skippedFrames(await pullConsumer.skipTo(upToSeq), reason, { fromMs, toMs: Date.now() });
    } catch (error) {
      logger.warn({ destinationId, err: error }, 'dispatcher: the log failed');
    }
  }

  /** When the oldest frame after a sequence was stored, in ms since the epoch; the current time if there is none. */
  async #storedAfter(seq: number): Promise<number> {
    const { connection, accountId } = this.#options;
    const oldest = await readNext(connection, streams.events, eventsOfAccount(accountId), seq + 1);
    return oldest?.storedAtMs ?? Date.now();
  }

  /** Removes events of skipped frames that are in memory and not in flight. */
  removeHeld(): void {
    if (!this.#mayHold) return;
    this.#mayHold = false;
    const { inbox, sending, settlement, destinationId, logger } = this.#options;
    const [upToSeq, reason] = [this.#upToSeq, this.#reason];
    logger.warn({ destinationId, upToSeq, reason }, 'dispatcher: skipping events');
    settlement.handBackUnstarted();
    const isSkipped = ({ frame }: DispatchItem): boolean => seqOf(frame) > 0 && seqOf(frame) <= upToSeq;
    for (const item of sending.remove(isSkipped)) inbox.skipEvent(item, reason);
    inbox.skipUnread(upToSeq, reason);
  }

  /**
   * Call when a frame after the skipped ones was opened: ends the skip. If nothing can be sent now, the frame is handed
   * back.
   */
  caughtUp(): void {
    if (this.#upToSeq === 0) return;
    this.#upToSeq = 0;
    if (this.#options.sending.gate.isShut) this.#options.settlement.handBackUnstarted();
  }
}
