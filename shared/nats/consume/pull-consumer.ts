import { setTimeout as wait } from 'node:timers/promises';
import type { Msg, Subscription } from 'nats';
import { client } from '../connection/client.ts';
import type { LogConnection } from '../connection/connection.ts';
import {
  ConsumerTakenError,
  claimConsumer,
  claimConsumerAt,
  confirmConsumer,
  rewindConsumer,
  skipConsumer,
} from './consumers.ts';
import type { DurableConsumer, FinishedBefore, OwnedConsumer } from './consumers.ts';
import { readLogMessage } from '../messages/log-message.ts';
import type { LogMessage, MessageKeeper } from '../messages/log-message.ts';
import { readPullStatus } from './pull-status.ts';
import { TakenMessages } from './taken-messages.ts';
import type { FinishedMessages } from './taken-messages.ts';
import type { LossWatch } from '../messages/predecessors.ts';
import { readersOf } from './readers.ts';
import type { PullTurn } from './pull-turns.ts';
import { PullRequests } from './pull-requests.ts';
import type { Reader } from './readers.ts';

/**
 * A durable consumer being read, by its one owner: opening one takes it away from its previous reader.
 * Messages come in the order of the stream, what an earlier reader did not finish first, and none twice to one reader:
 * wherever messages may have got lost on their way the consumer is rewound, and what is in hand or done is recognised.
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
   * Up to `max` of the messages that are here, perhaps none. Who hands messages back and works on others meanwhile takes
   * them with this: what is handed back comes again before all that is not taken yet, and behind what is.
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
   * Finishes all messages up to a sequence but those that are taken, without a look at them. Resolves with about how many these
   * were; 0 where the log does not reach so far, or when it is closed before.
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

/** What keeps messages away from their reader, and for how long it has by now: 0 for the first of what belongs together. */
export type ConsumerTrouble =
  /** No server answers for the consumer: it has no leader at the moment, or was deleted. The reader looks for it. */
  | { readonly kind: 'unanswered'; readonly reason: string; readonly lastsMs: number }
  /** Asking the log failed. It is asked again. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly lastsMs: number }
  /** Messages were sent that did not come here. They are asked for again. */
  | { readonly kind: 'missed' }
  /** The consumer was gone, and has been created again. */
  | { readonly kind: 'recreated' };

const retryDelayMs = 250;
/** Others take a process for dead no sooner. */
const standstillMs = 1_500;

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

/** Messages that are to be skipped with the next rewind. */
type Skip = { readonly upTo: number; resolve(messages: number): void };

// Large: one state machine. Each message, status and reconnect decides on ownership, buffer and rewinding at once.
class DurablePullConsumer implements PullConsumer {
  readonly handedOutSeq: number;
  readonly #connection: LogConnection;
  readonly #options: PullConsumerOptions;
  readonly #group: string;
  readonly #taken: TakenMessages;
  readonly #keeper: MessageKeeper;
  readonly #offReconnect: () => void;
  readonly #reader: Reader;
  /** Undefined: it takes no turns. */
  readonly #turn: PullTurn | undefined;
  #buffer: LogMessage[] = [];
  #bufferedBytes = 0;
  #inbox = '';
  #subscription: Subscription | undefined;
  readonly #requests: PullRequests;
  #nextConsumerSeq: number;
  #lookedAtMs = performance.now();
  #troubleSinceMs: number | undefined;
  #waiting: ((value: void) => void) | undefined;
  #skip: Skip | undefined;
  #isRewindWanted = false;
  #rewinding: Promise<void> | undefined;
  #isConfirmed = true;
  #confirming: Promise<void> | undefined;
  #hasBegun = false;
  #isPaused = false;
  #isClosed = false;
  #takenAway: ConsumerTakenError | undefined;

  constructor(connection: LogConnection, options: PullConsumerOptions, owned: OwnedConsumer, taken: TakenMessages) {
    this.#connection = connection;
    this.#options = options;
    this.#group = owned.group;
    this.#taken = taken;
    this.#nextConsumerSeq = owned.nextConsumerSeq;
    this.handedOutSeq = owned.handedOutSeq;
    this.#keeper = {
      acknowledged: ({ seq, storedAtMs }) => this.#taken.acknowledge(seq, storedAtMs),
      finished: ({ seq, storedAtMs }) => this.#taken.finish(seq, storedAtMs),
      released: ({ seq, storedAtMs }) => {
        this.#taken.release(seq, storedAtMs);
        this.#void();
      },
    };
    // What the server sent into a connection that broke would come again late, behind newer messages.
    this.#offReconnect = connection.onReconnect(() => this.#rewind());
    const readers = readersOf(connection);
    const { stream, filterSubject } = options.consumer;
    this.#reader = readers.add(options.isOneOfMany === true, () => this.#look());
    this.#turn =
      options.isOneOfMany === true ? readers.takeTurns(stream, filterSubject, () => this.#pull()) : undefined;
    const { bufferedBytesMax, pullsAhead = true } = options;
    this.#requests = new PullRequests({
      group: owned.group,
      pullsAhead,
      bufferedBytesMax,
      messageBytesMax: connection.messageBytesMax,
      expiresMs: () => this.#reader.pullExpiresMs,
    });
    this.#subscribe();
  }

  get buffered(): number {
    return this.#buffer.length;
  }

  get finished(): FinishedMessages {
    return this.#taken.finished;
  }

  get isCurrent(): boolean {
    if (performance.now() - this.#lookedAtMs > standstillMs) this.#isConfirmed = false;
    return this.#isConfirmed && this.#takenAway === undefined;
  }

  async take(max: number): Promise<LogMessage[]> {
    while (await this.untilAny()) {
      const taken = this.takeNow(max);
      if (taken.length > 0) return taken;
    }
    return [];
  }

  async untilAny(): Promise<boolean> {
    this.#hasBegun = true;
    this.#requests.resumed();
    while (this.#buffer.length === 0 && !this.#isClosed && this.#takenAway === undefined) {
      const woken = new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
      this.#pull();
      await woken;
    }
    if (this.#takenAway !== undefined) throw this.#takenAway;
    return !this.#isClosed;
  }

  takeNow(max: number): LogMessage[] {
    const taken = this.#buffer.splice(0, max);
    for (const { data } of taken) this.#bufferedBytes -= data.length;
    this.#pull();
    return taken;
  }

  confirm(): Promise<void> {
    if (this.#takenAway !== undefined) return Promise.reject(this.#takenAway);
    if (this.isCurrent) return Promise.resolve();
    return (this.#confirming ??= this.#confirm().finally(() => {
      this.#confirming = undefined;
    }));
  }

  skipTo(upTo: number): Promise<number> {
    if (this.#isClosed) return Promise.resolve(0);
    this.#skip?.resolve(0);
    return new Promise((resolve) => {
      this.#skip = { upTo, resolve };
      this.#rewind();
    });
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#hasBegun = true;
    this.#isPaused = false;
    this.#pull();
  }

  close(): Promise<void> {
    this.#end();
    return Promise.resolve();
  }

  #end(): void {
    this.#isClosed = true;
    this.#skip?.resolve(0);
    this.#reader.leave();
    this.#turn?.leave();
    this.#offReconnect();
    this.#subscription?.unsubscribe();
    this.#emptyBuffer();
    this.#wake();
  }

  /** Wakes its reader, which then looks at the buffer. */
  #wake(): void {
    const wake = this.#waiting;
    this.#waiting = undefined;
    wake?.();
  }

  #subscribe(): void {
    this.#inbox = this.#connection[client].createInbox();
    this.#subscription = this.#connection[client].nc.subscribe(this.#inbox, {
      callback: (error, message) => {
        if (error === null) this.#receive(message);
        else this.#failed(error);
      },
    });
  }

  #pull(): void {
    if (!this.#hasBegun) return;
    if (this.#isClosed || this.#isPaused || this.#requests.isOpen || !this.#connection.connected) return;
    if (this.#isRewindWanted || this.#rewinding !== undefined) {
      this.#startRewinding(0);
      return;
    }
    const { consumer, bufferedMax, bufferedBytesMax = Infinity, pullsAhead = true } = this.#options;
    if (!pullsAhead && this.#waiting === undefined) return;
    const { stream, name, ackPendingMax } = consumer;
    const aheadMax = typeof bufferedMax === 'number' ? bufferedMax : bufferedMax();
    const room = Math.min(aheadMax - this.#buffer.length, ackPendingMax - this.#taken.size);
    if (room < 1 || this.#bufferedBytes >= bufferedBytesMax) return;
    const asking = this.#turn === undefined ? 'free' : this.#turn.begin();
    if (asking === undefined) return;
    const request = this.#requests.next(asking, room, this.#bufferedBytes);
    this.#connection[client].nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${name}`, JSON.stringify(request), {
      reply: this.#inbox,
    });
  }

  #receive(pulled: Msg): void {
    this.#requests.heard();
    const message = readLogMessage(this.#connection, pulled, this.#keeper);
    if (message === undefined) {
      this.#readStatus(pulled);
      return;
    }
    if (message.consumerSeq !== this.#nextConsumerSeq) {
      this.#options.onTrouble?.({ kind: 'missed' });
      this.#rewind();
      return;
    }
    this.#nextConsumerSeq += 1;
    this.#troubleSinceMs = undefined;
    this.#options.losses?.note(message);
    const isLast = this.#requests.received();
    this.#turn?.received(message.seq);
    if (isLast) this.#turn?.end(true);
    const received = this.#taken.received(message.seq, message.storedAtMs);
    if (received === 'new') this.#keep(message);
    else if (received === 'acknowledged') message.ack();
    this.#wake();
    this.#pull();
  }

  #keep(message: LogMessage): void {
    this.#buffer.push(message);
    this.#bufferedBytes += message.data.length;
  }

  #emptyBuffer(): void {
    this.#buffer = [];
    this.#bufferedBytes = 0;
  }

  #readStatus(message: Msg): void {
    if (this.#isClosed) return;
    const status = readPullStatus(message);
    switch (status.kind) {
      case 'heartbeat':
        return;
      case 'over':
        this.#troubleSinceMs = undefined;
        this.#requests.ended();
        this.#turn?.end(false);
        this.#pull();
        return;
      case 'unanswered':
        this.#options.onTrouble?.({ kind: 'unanswered', reason: status.reason, lastsMs: this.#troubleMs() });
        this.#rewind(retryDelayMs);
        return;
      case 'refused':
        // Who has taken the consumer over is found on the way.
        this.#rewind();
        return;
      case 'cut':
        this.#rewind(retryDelayMs);
    }
  }

  #look(): void {
    const nowMs = performance.now();
    const isCurrent = this.isCurrent;
    this.#lookedAtMs = nowMs;
    if (!isCurrent) this.confirm().catch(() => undefined);
    if (!this.#connection.connected) return;
    if (this.#requests.isOverdue(nowMs)) this.#rewind();
    else this.#pull();
  }

  async #confirm(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await confirmConsumer(this.#connection, this.#options.consumer, this.#group);
        this.#lookedAtMs = performance.now();
        this.#isConfirmed = true;
        return;
      } catch (error) {
        if (error instanceof ConsumerTakenError) {
          this.#lose(error);
          throw error;
        }
        await wait(retryDelayMs);
      }
    }
  }

  /** What was pulled and not taken is void, and what is on its way. */
  #void(): void {
    for (const { seq, storedAtMs } of this.#buffer) this.#taken.release(seq, storedAtMs);
    this.#emptyBuffer();
    this.#requests.ended();
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
    this.#isRewindWanted = true;
    this.#turn?.reset();
  }

  /** Has the server hand out again what is not acknowledged. */
  #rewind(delayMs = 0): void {
    if (this.#isClosed) return;
    this.#void();
    this.#startRewinding(delayMs);
  }

  #startRewinding(delayMs: number): void {
    this.#rewinding ??= this.#rewindUntilDone(delayMs).finally(() => {
      this.#rewinding = undefined;
      if (this.#isRewindWanted || this.#isClosed) return;
      this.#subscribe();
      this.#pull();
    });
  }

  async #rewindUntilDone(delayMs: number): Promise<void> {
    if (delayMs > 0) await wait(delayMs);
    // Without a connection the next one begins it.
    while (this.#isRewindWanted && !this.#isClosed && this.#connection.connected) {
      this.#isRewindWanted = false;
      try {
        const { consumer } = this.#options;
        const found = await rewindConsumer(this.#connection, consumer, this.#group, this.#taken.finished);
        const owned = await this.#skipped(found);
        if (owned.isNew) this.#options.onTrouble?.({ kind: 'recreated' });
        this.#taken.rewound(owned.ackedSeq);
        this.#nextConsumerSeq = owned.nextConsumerSeq;
      } catch (error) {
        if (error instanceof ConsumerTakenError) {
          this.#lose(error);
          return;
        }
        this.#isRewindWanted = true;
        this.#failed(error);
        await wait(retryDelayMs);
      }
    }
  }

  /** Behind what is to be skipped. */
  async #skipped(owned: OwnedConsumer): Promise<OwnedConsumer> {
    const skip = this.#skip;
    if (skip === undefined) return owned;
    const made = await skipConsumer(this.#connection, this.#options.consumer, owned, skip.upTo);
    // What another process has taken meanwhile, or a new call asks for, is for the next rewind.
    if (this.#skip === skip) this.#skip = undefined;
    const known = made === owned ? 0 : this.#taken.skipTo(skip.upTo, Date.now());
    skip.resolve(made === owned ? 0 : Math.max(0, owned.unfinished - made.unfinished - known));
    return made;
  }

  #lose(error: ConsumerTakenError): void {
    this.#takenAway ??= error;
    this.#end();
  }

  #failed(error: unknown): void {
    this.#options.onTrouble?.({ kind: 'failed', error, lastsMs: this.#troubleMs() });
  }

  /** Time since trouble began; it begins now where all was well. */
  #troubleMs(): number {
    const nowMs = performance.now();
    this.#troubleSinceMs ??= nowMs;
    return nowMs - this.#troubleSinceMs;
  }
}
