import type { LogConnection } from '../connection/connection.ts';
import type { LogMessage, MessageKeeper } from '../messages/log-message.ts';
import type { LossWatch } from '../messages/predecessors.ts';
import { controlConsumer, retryDelayMs } from './consumer-control.ts';
import { ConsumerOwnership } from './consumer-ownership.ts';
import { TroubleReports } from './consumer-trouble.ts';
import type { ConsumerTrouble } from './consumer-trouble.ts';
import { claimConsumer, claimConsumerAt } from './consumers.ts';
import type { DurableConsumer, FinishedBefore, OwnedConsumer } from './consumers.ts';
import { PullInbox } from './pull-inbox.ts';
import { PullRequests } from './pull-requests.ts';
import type { PullStatus } from './pull-status.ts';
import { noTurns } from './pull-turns.ts';
import { PulledMessages } from './pulled-messages.ts';
import { readersOf } from './readers.ts';
import { Rewinds } from './rewinds.ts';
import { RunState } from './run-state.ts';
import { TakenMessages } from './taken-messages.ts';
import type { FinishedMessages } from './taken-messages.ts';

/**
 * A durable consumer with one owner: opening it takes it over from its previous reader. Messages arrive in the order of
 * the stream, beginning with the unfinished messages of earlier readers, and no message arrives twice unless it was
 * released. If messages may have been lost in transit, the consumer is rewound, and messages in flight or finished are
 * skipped. Pulling begins with the first `take`, `untilAny` or `resume`, and never exceeds the reader's room.
 */
export type PullConsumer = {
  /**
   * Waits for at least one message and returns up to `max` buffered messages; [] once closed. Throws ConsumerTakenError
   * once another reader has taken over.
   */
  take(max: number): Promise<LogMessage[]>;
  /** Waits until at least one message is buffered; false once closed. Throws ConsumerTakenError as `take` does. */
  untilAny(): Promise<boolean>;
  /**
   * Returns up to `max` buffered messages without waiting, perhaps none. For a reader that releases messages while it
   * works on others: a released message is delivered again before all messages that are not yet taken.
   */
  takeNow(max: number): LogMessage[];
  /** Number of messages pulled and not yet taken. */
  readonly buffered: number;
  /** Messages up to this sequence were delivered to an earlier reader, which may have worked on them. */
  readonly handedOutSeq: number;
  /** The finished messages, for the next reader. */
  readonly finished: FinishedMessages;
  /** False if another reader has taken over, or may have taken over while this process stood still. */
  readonly isCurrent: boolean;
  /** Asks the server if ownership is uncertain. Throws ConsumerTakenError if another reader owns the consumer. */
  confirm(): Promise<void>;
  /**
   * Finishes all messages up to a sequence without delivering them, except messages in flight. Resolves with their
   * approximate number; 0 if the log does not reach that sequence, or if another call or the close comes first.
   */
  skipTo(upTo: number): Promise<number>;
  /** Sends no more pull requests until `resume`; messages in transit are still buffered. */
  pause(): void;
  resume(): void;
  /** Stops pulling. The next reader receives the unfinished messages first. */
  close(): Promise<void>;
};

export type PullConsumerOptions = {
  readonly consumer: DurableConsumer;
  /**
   * Returns the messages that earlier readers finished, even if the server has no record of them. The consumer is
   * created after `upTo`; other finished messages are acknowledged and not delivered. Default: the server's record.
   */
  readonly finishedBefore?: FinishedBefore;
  /** Maximum number of messages pulled ahead of the reader; a function is called for each request. */
  readonly bufferedMax: number | (() => number);
  /** Maximum bytes of buffered messages, exceeded by at most two messages of the largest size. Default: no limit. */
  readonly bufferedBytesMax?: number | undefined;
  /**
   * Default true. If false, pull requests are sent only while the reader waits in `take` or `untilAny`, and bring all
   * messages stored since the last request: a message sent alone costs the server as much as many in a row.
   */
  readonly pullsAhead?: boolean;
  /**
   * Whether a connection may have thousands of such consumers. The more there are, the less often each one pulls while
   * no messages arrive, and the readers of one subject take turns. Default false.
   */
  readonly isOneOfMany?: boolean;
  /** Called when pulling fails; the consumer recovers by itself. */
  readonly onTrouble?: (trouble: ConsumerTrouble) => void;
  /** Receives every message as it arrives. */
  readonly losses?: LossWatch;
};

/** Takes a consumer over, or creates it if it is missing. Throws ConsumerError. */
export async function openPullConsumer(connection: LogConnection, options: PullConsumerOptions): Promise<PullConsumer> {
  const { consumer, finishedBefore } = options;
  if (finishedBefore === undefined) {
    const owned = await claimConsumer(connection, consumer);
    return new DurablePullConsumer(connection, options, owned, new TakenMessages(owned.ackedSeq, owned.ackedAtMs));
  }
  const owned = await claimConsumerAt(connection, consumer, finishedBefore);
  const taken = new TakenMessages(owned.finished.upTo, owned.finished.storedUntilMs);
  taken.restore(owned.finished);
  taken.rewound(owned.ackedSeq);
  return new DurablePullConsumer(connection, options, owned, taken);
}

/** Sends pull requests and combines ownership, buffer, inbox, requests and rewinds. */
class DurablePullConsumer implements PullConsumer {
  readonly handedOutSeq: number;
  readonly #options: PullConsumerOptions;
  readonly #taken: TakenMessages;
  readonly #trouble: TroubleReports;
  readonly #state: RunState;
  readonly #ownership: ConsumerOwnership;
  readonly #buffer = new PulledMessages();
  readonly #inbox: PullInbox;
  readonly #requests: PullRequests;
  readonly #rewinds: Rewinds;
  readonly #leave: readonly (() => void)[];

  constructor(connection: LogConnection, options: PullConsumerOptions, owned: OwnedConsumer, taken: TakenMessages) {
    const { consumer, bufferedBytesMax, pullsAhead = true, isOneOfMany = false } = options;
    this.handedOutSeq = owned.handedOutSeq;
    this.#options = options;
    this.#taken = taken;
    this.#trouble = new TroubleReports(options.onTrouble);
    this.#state = new RunState(() => this.#end());
    const control = controlConsumer(connection, consumer, owned.group);
    this.#ownership = new ConsumerOwnership(control, this.#state);
    this.#inbox = new PullInbox({
      connection,
      consumer,
      keeper: this.#keeper(),
      onMessage: (message) => this.#receive(message),
      onStatus: (status) => this.#readStatus(status),
      onFailed: (error) => this.#trouble.failed(error),
    });
    this.#rewinds = new Rewinds({
      control,
      taken,
      state: this.#state,
      trouble: this.#trouble,
      nextConsumerSeq: owned.nextConsumerSeq,
      isConnected: () => connection.connected,
      onSkipped: (upTo) => options.losses?.skipped(upTo),
      onRewound: () => {
        this.#inbox.open();
        this.#pull();
      },
    });
    // Without a rewind, messages that the server sent into a broken connection would be delivered again late, after
    // newer ones.
    const offReconnect = connection.onReconnect(() => this.#rewind());
    const readers = readersOf(connection);
    const reader = readers.add(isOneOfMany, () => this.#look());
    const { stream, filterSubject } = consumer;
    const turn = isOneOfMany ? readers.takeTurns(stream, filterSubject, () => this.#pull()) : noTurns;
    this.#leave = [() => reader.leave(), () => turn.leave(), offReconnect];
    this.#requests = new PullRequests({
      group: owned.group,
      pullsAhead,
      bufferedBytesMax,
      messageBytesMax: connection.messageBytesMax,
      turn,
      expiresMs: () => reader.pullExpiresMs,
    });
    this.#inbox.open();
  }

  get buffered(): number {
    return this.#buffer.count;
  }

  get finished(): FinishedMessages {
    return this.#taken.finished;
  }

  get isCurrent(): boolean {
    return this.#ownership.isCurrent;
  }

  async take(max: number): Promise<LogMessage[]> {
    while (await this.untilAny()) {
      const taken = this.takeNow(max);
      if (taken.length > 0) return taken;
    }
    return [];
  }

  async untilAny(): Promise<boolean> {
    this.#state.begin();
    this.#requests.resumed();
    while (this.#buffer.count === 0 && !this.#state.isClosed) {
      const woken = this.#buffer.untilWoken();
      this.#pull();
      await woken;
    }
    if (this.#state.takenOver !== undefined) throw this.#state.takenOver;
    return !this.#state.isClosed;
  }

  takeNow(max: number): LogMessage[] {
    const taken = this.#buffer.take(max);
    this.#pull();
    return taken;
  }

  confirm(): Promise<void> {
    return this.#ownership.confirm();
  }

  skipTo(upTo: number): Promise<number> {
    if (this.#state.isClosed) return Promise.resolve(0);
    const skipped = this.#rewinds.skipTo(upTo);
    this.#rewind();
    return skipped;
  }

  pause(): void {
    this.#state.pause();
  }

  resume(): void {
    this.#state.resume();
    this.#pull();
  }

  close(): Promise<void> {
    this.#state.close();
    return Promise.resolve();
  }

  #end(): void {
    this.#rewinds.close();
    for (const leave of this.#leave) leave();
    this.#inbox.close();
    this.#buffer.take(Infinity);
    this.#buffer.wake();
  }

  #keeper(): MessageKeeper {
    return {
      acknowledged: ({ seq, storedAtMs }) => this.#taken.acknowledge(seq, storedAtMs),
      finished: ({ seq, storedAtMs }) => this.#taken.finish(seq, storedAtMs),
      released: ({ seq, storedAtMs }) => {
        this.#taken.release(seq, storedAtMs);
        this.#void();
      },
    };
  }

  #pull(): void {
    if (!this.#state.isPulling || this.#requests.isOpen || !this.#inbox.isConnected) return;
    if (this.#rewinds.isPending) {
      this.#rewinds.start(0);
      return;
    }
    const { consumer, bufferedMax, bufferedBytesMax = Infinity, pullsAhead = true } = this.#options;
    if (!pullsAhead && !this.#buffer.isAwaited) return;
    const aheadMax = typeof bufferedMax === 'number' ? bufferedMax : bufferedMax();
    const room = Math.min(aheadMax - this.#buffer.count, consumer.ackPendingMax - this.#taken.size);
    if (room < 1 || this.#buffer.bytes >= bufferedBytesMax) return;
    const request = this.#requests.next(room, this.#buffer.bytes);
    if (request !== undefined) this.#inbox.send(request);
  }

  #receive(message: LogMessage): void {
    this.#requests.heard();
    if (!this.#rewinds.isNext(message.consumerSeq)) {
      this.#trouble.missed();
      this.#rewind();
      return;
    }
    this.#trouble.over();
    this.#options.losses?.note(message);
    this.#requests.received(message.seq);
    const received = this.#taken.received(message.seq, message.storedAtMs);
    if (received === 'new') this.#buffer.push(message);
    else if (received === 'acknowledged') message.ack();
    this.#buffer.wake();
    this.#pull();
  }

  #readStatus(status: PullStatus): void {
    this.#requests.heard();
    if (this.#state.isClosed) return;
    switch (status.kind) {
      case 'heartbeat':
        return;
      case 'over':
        this.#trouble.over();
        this.#requests.ended();
        this.#pull();
        return;
      case 'unanswered':
        this.#trouble.unanswered(status.reason);
        this.#rewind(retryDelayMs);
        return;
      case 'refused':
        // The rewind finds out whether another reader has taken the consumer over.
        this.#rewind();
        return;
      case 'cut':
        this.#rewind(retryDelayMs);
    }
  }

  #look(): void {
    this.#ownership.look();
    if (!this.#inbox.isConnected) return;
    if (this.#requests.isOverdue(performance.now())) this.#rewind();
    else this.#pull();
  }

  /**
   * Discards messages that were pulled and not taken, or are in transit; the next rewind makes the server send them
   * again.
   */
  #void(): void {
    for (const { seq, storedAtMs } of this.#buffer.take(Infinity)) this.#taken.release(seq, storedAtMs);
    this.#inbox.close();
    this.#rewinds.want();
    this.#requests.reset();
  }

  /** Makes the server deliver unacknowledged messages again. */
  #rewind(delayMs = 0): void {
    if (this.#state.isClosed) return;
    this.#void();
    this.#rewinds.start(delayMs);
  }
}
