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
 * A durable consumer being read, by its one owner: opening one takes it away from its previous reader.
 * Messages come in the order of the stream, beginning with those that an earlier reader did not finish, and none comes twice
 * to one reader. Where messages may have been lost on their way the consumer is rewound; those in flight or done are skipped.
 * It pulls only what the reader has room for, so nothing piles up in the client; it begins with the first `take` or `resume`.
 */
export type PullConsumer = {
  /**
   * Waits for at least one message and returns up to `max` of those that are here; [] when closed. Throws
   * ConsumerTakenError once another reader has taken over.
   */
  take(max: number): Promise<LogMessage[]>;
  /** Waits for at least one message to be here; false when closed. Throws ConsumerTakenError as `take` does. */
  untilAny(): Promise<boolean>;
  /**
   * Up to `max` of the messages that are here, perhaps none. For a reader that releases messages while it works on others:
   * a released message comes again before all that are not taken yet.
   */
  takeNow(max: number): LogMessage[];
  /** Messages pulled and not taken yet. */
  readonly buffered: number;
  /** Messages up to here had been handed out to an earlier reader, who may have worked on them. */
  readonly handedOutSeq: number;
  /** What is finished, for the next reader. */
  readonly finished: FinishedMessages;
  /** False when the process stood still for so long that another reader may own the consumer by now. */
  readonly isCurrent: boolean;
  /** Asks the server for the owner where that is not certain; throws ConsumerTakenError when it is another reader. */
  confirm(): Promise<void>;
  /**
   * Finishes all messages up to a sequence unread, except those that are taken. Resolves with about how many these were; 0
   * where the log does not reach that far, or when the consumer is closed first.
   */
  skipTo(upTo: number): Promise<number>;
  /** Stops asking for messages; those on their way stay in the buffer. `resume` goes on. */
  pause(): void;
  resume(): void;
  /** Stops pulling. What is not finished comes first with the next reader. */
  close(): Promise<void>;
};

export type PullConsumerOptions = {
  readonly consumer: DurableConsumer;
  /**
   * What earlier readers had finished, whether or not the server knows: the consumer is made at it, and what was finished
   * above is acknowledged and not handed out. Default: what the server knows.
   */
  readonly finishedBefore?: FinishedBefore;
  /** Messages pulled ahead of the reader, at most; as things are when they are asked for where it is a function. */
  readonly bufferedMax: number | (() => number);
  /** Bytes of them, give or take a message. Default: as many as they have. */
  readonly bufferedBytesMax?: number | undefined;
  /**
   * Default true. Where false it asks only while its reader waits in `take`, who is given together what has come since the
   * last time: for the server a message that is sent by itself costs as much as many that are sent in a row.
   */
  readonly pullsAhead?: boolean;
  /**
   * Whether there may be thousands like it: the more there are, the less often each asks while nothing comes, and those that
   * read one subject take turns.
   */
  readonly isOneOfMany?: boolean;
  /** Called when pulling fails; the consumer recovers by itself. */
  readonly onTrouble?: (trouble: ConsumerTrouble) => void;
  /** Receives every message as it comes. */
  readonly losses?: LossWatch;
};

/** Takes a consumer over, making it when it is missing, and begins to read it. */
export async function openPullConsumer(connection: LogConnection, options: PullConsumerOptions): Promise<PullConsumer> {
  const { consumer, finishedBefore } = options;
  if (finishedBefore === undefined) {
    const owned = await claimConsumer(connection, consumer);
    return new DurablePullConsumer(connection, options, owned, new TakenMessages(owned.ackedSeq, owned.ackedAtMs));
  }
  const owned = await claimConsumerAt(connection, consumer, finishedBefore);
  const taken = new TakenMessages(owned.finished.upTo, owned.finished.storedUntilMs);
  taken.restore(owned.finished);
  return new DurablePullConsumer(connection, options, owned, taken);
}

/** Asks for messages, and puts together what its parts know: ownership, buffer, inbox, requests and rewinds. */
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
      onRewound: () => {
        this.#inbox.open();
        this.#pull();
      },
    });
    // What the server sent into a connection that broke would come again late, behind newer messages.
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
        // The rewind finds out which reader has taken the consumer over.
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

  /** Messages that were pulled and not taken, and those on their way, are wanted again. */
  #void(): void {
    for (const { seq, storedAtMs } of this.#buffer.take(Infinity)) this.#taken.release(seq, storedAtMs);
    this.#inbox.close();
    this.#rewinds.want();
    this.#requests.reset();
  }

  /** Has the server hand out again what is not acknowledged. */
  #rewind(delayMs = 0): void {
    if (this.#state.isClosed) return;
    this.#void();
    this.#rewinds.start(delayMs);
  }
}
