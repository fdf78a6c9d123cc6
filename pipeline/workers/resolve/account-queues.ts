import { accountQueueConsumer, allIngest, accountOfIngest, isId } from '../../../shared/contracts/subjects.ts';
import { listConsumerProgress } from '../../../shared/nats/streams/stream-progress.ts';
import { countBySubject } from '../../../shared/nats/messages/subject-log.ts';
import type { LogMessage } from '../../../shared/nats/messages/log-message.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { AccountQueue } from './account-queue.ts';
import type { QueueTarget } from './account-queue.ts';
import type { PartPublisher } from './part-publisher.ts';
import type { ResolverContext } from './resolver-context.ts';
import type { UnfinishedFrames } from './unfinished-frames.ts';
import type { VisitorWrites } from './visitor-writes.ts';
import type { WaitingEvent, WaitingEvents, WaitingLines } from './waiting-events.ts';

/** Maximum number of queues of one partition; each holds up to half a mebibyte in memory. */
const queuesMax = 64;

/**
 * An account with less than this share of a partition's limits is not moved to a queue, because too little would be
 * gained; unless the database fails for its visitors, since many small accounts that wait would stop the partition.
 */
const partMin = 1 / 8;

export type AccountQueuesOptions = {
  readonly context: ResolverContext;
  readonly waiting: WaitingEvents;
  /** The partition's own frames. */
  readonly unfinished: UnfinishedFrames<LogMessage>;
  readonly target: Omit<QueueTarget, 'waiting'>;
  /** Called when a queue cannot be read any more. */
  onFailure(error: unknown): void;
};

type Writes = Pick<VisitorWrites, 'events' | 'accountsApart'>;

/**
 * Divides a partition's memory and frames in flight among its accounts. When the partition's limits are exceeded, the
 * account that uses most gets a queue, so that the frames of all other accounts are still read, however large its
 * backlog is.
 */
export class AccountQueues {
  readonly #options: AccountQueuesOptions;
  readonly #queues = new Map<string, AccountQueue>();
  /** Accounts whose queue was read to its end: later events wait in memory after the queued ones. */
  readonly #leaving = new Set<string>();
  readonly #reading = new Map<AccountQueue, Promise<void>>();
  readonly #closing = new Map<string, Promise<void>>();
  /** Events that were copied to a queue while their visitors were being written. */
  readonly #released = new Set<WaitingEvent>();
  #isReading = false;

  constructor(options: AccountQueuesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#queues.size;
  }

  /** Whether events of an account go through a queue. */
  has(accountId: string): boolean {
    return this.#queues.has(accountId) && !this.#leaving.has(accountId);
  }

  /** Unread bytes in queues, by account. */
  stats(): Readonly<Record<`queue_bytes:${string}`, number>> {
    return Object.fromEntries([...this.#queues].map(([id, queue]) => [`queue_bytes:${id}`, queue.unreadBytes]));
  }

  get isReading(): boolean {
    return this.#isReading && this.#queues.size > 0;
  }

  /** Bytes in memory of accounts whose events do not go through a queue. */
  get bytesBeside(): number {
    const { waiting } = this.#options;
    let bytes = waiting.bytes;
    for (const accountId of this.#queues.keys()) {
      if (this.has(accountId)) bytes -= waiting.bytesOf(accountId);
    }
    return bytes;
  }

  /** Takes over the queues of an earlier resolver. */
  async open(): Promise<void> {
    const { context } = this.#options;
    const { connection, partition } = context;
    const [subjects, consumers] = [
      await countBySubject(connection, streams.ingest, allIngest),
      await listConsumerProgress(connection, streams.ingest),
    ];
    const accounts = new Set(
      [...subjects.keys(), ...consumers.map(({ filterSubject }) => filterSubject)].flatMap(
        (subject) => accountOfIngest(partition, subject) ?? [],
      ),
    );
    if (accounts.size === 0) return;
    for (const accountId of accounts) this.#queues.set(accountId, await this.#openQueue(accountId));
    // The server reports how many messages are unread only once the earlier reader is gone.
    for (const consumer of await listConsumerProgress(connection, streams.ingest)) {
      for (const [accountId, queue] of this.#queues) {
        if (consumer.name === accountQueueConsumer(partition, accountId)) queue.inherit(consumer);
      }
    }
  }

  /** Queues with frames suspected of having ended an earlier actor: each is read alone, one frame at a time. */
  get watching(): readonly AccountQueue[] {
    return [...this.#queues.values()].filter((queue) => queue.isWatching);
  }

  /** Starts to read all queues. */
  start(): void {
    this.#isReading = true;
    for (const queue of this.#queues.values()) this.#read(queue);
    this.#closeDone();
  }

  /** Adds lines of the partition to their account's queue. Returns false if they wait in memory instead. */
  take(lines: WaitingLines): boolean {
    const { accountId, frame } = lines;
    const queue = this.#queues.get(accountId);
    if (queue === undefined || !this.has(accountId)) return false;
    if (queue.isCaughtUp) {
      this.#leaving.add(accountId);
      return false;
    }
    queue.add(lines, () => this.#options.unfinished.done(frame));
    return true;
  }

  /** Waits until the log has stored all queued lines. Returns false if there were none. */
  async copied(): Promise<boolean> {
    const copies = [...this.#queues.values()].filter(({ isCopying }) => isCopying).map((queue) => queue.copy());
    if (copies.length === 0) return false;
    await Promise.all(copies);
    return true;
  }

  /**
   * If the partition exceeds its limits, moves the account that uses most to a queue. Returns whether an account was
   * moved. No other work of that account may be in progress.
   */
  async moveFlood(writes: Writes, publisher: Pick<PartPublisher, 'published'>): Promise<boolean> {
    for (;;) {
      const accountId = this.#mostOver(writes);
      if (accountId === undefined) return false;
      // The account's resolved events must be in EVENTS before the copying begins: otherwise, after a crash, they could
      // come after the copied ones.
      const { published } = publisher;
      await Promise.all([published, this.#closing.get(accountId)]);
      // If more events were resolved in the meantime, or a queue has begun to close, it must wait for these too.
      if (published !== publisher.published || this.#closing.has(accountId)) continue;
      await this.#move(accountId, writes.events);
      return true;
    }
  }

  /** Call when an event is done: its frame in the account's queue no longer waits for it. */
  done({ accountId, origin: { frame } }: WaitingEvent): void {
    this.#queues.get(accountId)?.unfinished.done(frame);
  }

  /** Whether an event was copied, so that its frame no longer waits for it. Call once, when the event is done. */
  wasReleased(event: WaitingEvent): boolean {
    return this.#released.size > 0 && this.#released.delete(event);
  }

  /** Acknowledges finished frames, and closes queues without work. */
  finish(): void {
    for (const queue of this.#queues.values()) queue.finish();
    this.#closeDone();
  }

  /** Call when memory has become free: all queues continue reading. */
  noteRoom(): void {
    for (const queue of this.#queues.values()) queue.noteRoom();
  }

  /** Stops reading. */
  async stop(): Promise<void> {
    this.#isReading = false;
    await Promise.all([...this.#queues.values()].map((queue) => queue.close()));
  }

  /** Stops reading, and waits until the work in progress has ended. */
  async close(): Promise<void> {
    await this.stop();
    await Promise.allSettled([...this.#reading.values(), ...this.#closing.values()]);
  }

  /**
   * The account to move to a queue; undefined while the partition is within its limits, or if no account would help
   * that has a large share of it or whose visitors the database fails to write.
   */
  #mostOver(writes: Writes): string | undefined {
    const { waiting, unfinished, context } = this.#options;
    const { waitingBytesMax, framesInFlightMax } = context.settings;
    const framesMax = framesInFlightMax / 2;
    const isFull = this.bytesBeside >= waitingBytesMax;
    if (!isFull && unfinished.span < framesMax) return undefined;
    if (this.#queues.size >= queuesMax) return undefined;
    const { oldest } = unfinished;
    const frames = new Map<string, number>();
    // The log delivers a limited number of frames after the oldest unfinished one, so only its accounts can help.
    const helping = new Set<string>();
    for (const accountId of waiting.accounts) {
      frames.set(accountId, waiting.stretchesOf(accountId));
      if (isFull || waiting.isIn(oldest, accountId)) helping.add(accountId);
    }
    for (const event of writes.events) {
      if (!this.#isHeld(event)) continue;
      frames.set(event.accountId, (frames.get(event.accountId) ?? 0) + 1);
      if (isFull || event.origin.frame === oldest) helping.add(event.accountId);
    }
    let most: { readonly accountId: string; readonly part: number } | undefined;
    for (const accountId of helping) {
      if (!isId(accountId) || this.has(accountId)) continue;
      const part = Math.max(waiting.bytesOf(accountId) / waitingBytesMax, (frames.get(accountId) ?? 0) / framesMax);
      const isWorthIt = part >= partMin || writes.accountsApart.has(accountId);
      if (isWorthIt && part > (most?.part ?? 0)) most = { accountId, part };
    }
    return most === undefined || context.isOnlyAccount(most.accountId) ? undefined : most.accountId;
  }

  /**
   * Moves an account to a queue: first the events being written, so that no frame waits for them, then the waiting
   * events. There is no `await` before all of them are added: an event that is done must not be copied.
   */
  async #move(accountId: string, writing: Iterable<WaitingEvent>): Promise<void> {
    const { waiting, unfinished } = this.#options;
    const found = this.#queues.get(accountId);
    const queue = found ?? new AccountQueue(this.#options.context, accountId, { ...this.#options.target, waiting });
    this.#queues.set(accountId, queue);
    this.#leaving.delete(accountId);
    for (const event of writing) {
      if (event.accountId !== accountId || !this.#isHeld(event)) continue;
      this.#released.add(event);
      queue.add(event, () => unfinished.done(event.origin.frame));
    }
    for (const lines of waiting.remove(accountId, (frame) => unfinished.has(frame))) {
      queue.add(lines, () => unfinished.done(lines.frame));
    }
    queue.noteRoom();
    if (found === undefined && !queue.isCopying) {
      this.#queues.delete(accountId);
      return;
    }
    await this.copied();
    if (found !== undefined) return;
    await queue.open();
    if (this.#isReading) this.#read(queue);
  }

  #isHeld(event: WaitingEvent): boolean {
    return this.#options.unfinished.has(event.origin.frame) && !this.#released.has(event);
  }

  async #openQueue(accountId: string): Promise<AccountQueue> {
    const { context, target, waiting } = this.#options;
    const queue = new AccountQueue(context, accountId, { ...target, waiting });
    await queue.open();
    return queue;
  }

  #read(queue: AccountQueue): void {
    const reading = queue.read();
    reading.catch(this.#options.onFailure);
    this.#reading.set(queue, reading);
  }

  #closeDone(): void {
    if (!this.#isReading) return;
    for (const [accountId, queue] of this.#queues) {
      if (!queue.isDone) continue;
      this.#queues.delete(accountId);
      this.#leaving.delete(accountId);
      const closing = this.#remove(queue).finally(() => this.#closing.delete(accountId));
      closing.catch(this.#options.onFailure);
      this.#closing.set(accountId, closing);
    }
  }

  async #remove(queue: AccountQueue): Promise<void> {
    await queue.close();
    await this.#reading.get(queue);
    this.#reading.delete(queue);
    await queue.remove();
  }
}
