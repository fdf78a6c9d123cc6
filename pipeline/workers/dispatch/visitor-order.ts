import { randomUUID } from 'node:crypto';
import { FrameError } from '../../../shared/contracts/events/frame.ts';
import { parkedTier, parseRetryRecord } from '../../../shared/contracts/events/retry-record.ts';
import type { RetryRecord } from '../../../shared/contracts/events/retry-record.ts';
import type { DispatchItem } from './dispatch-item.ts';
import type { OrderLimits } from './dispatcher-settings.ts';
import type { DispatcherCounts } from './dispatcher-stats.ts';
import type { HealthKeeper } from './outbox/health-keeper.ts';
import type { HeldFrames } from './inbox/held-frames.ts';
import type { NoteOutcome } from './outcome-noter.ts';
import type { ParkedFrames } from './outbox/parked-frames.ts';
import type { RetryWriter, StoredRecord } from './outbox/retry-writer.ts';
import { takeParkedFrame } from './outbox/read-waiting.ts';
import type { Attempted } from './outbox/retry-policy.ts';
import type { VisitorLanes } from './sending/visitor-lanes.ts';
import type { Follower, WaitingVisitors } from './outbox/waiting-visitors.ts';

export type VisitorOrderOptions = {
  readonly waiting: WaitingVisitors;
  readonly frames: ParkedFrames;
  readonly limits: OrderLimits;
  readonly counts: DispatcherCounts;
  readonly lanes: VisitorLanes<DispatchItem>;
  readonly held: HeldFrames;
  readonly keeper: HealthKeeper;
  readonly retryWriter: RetryWriter;
  readonly note: NoteOutcome;
  /** Events of a visitor that are released together. */
  readonly releaseMax: () => number;
  /** The turn of a parked event has come. */
  onReleased(released: ReleasedEvent): void;
  /** Events were released, or there is room for fresh ones again. */
  wake(): void;
  onUnreadable(line: string): Promise<void>;
  /** An event is where it belongs. */
  onSettled(item: DispatchItem): void;
  onFailed(error: unknown): void;
  onError(error: unknown): void;
};

export type ReleasedEvent = {
  readonly record: RetryRecord;
  readonly follower: Follower;
  readonly bytes: number;
  /** It is settled: it may leave the log. */
  finished(): void;
  /** It was handed back: it waits on. */
  abandoned(): void;
};

/** Released events in the lanes, or on their way there. */
const releasedMax = 1_024;
const errorWaitMs = 1_000;
/** A destination that was full takes fresh events again below this share of each limit. */
const resumeShare = 0.9;

/**
 * Keeps the events of every visitor in order over failed attempts: while one waits for its next attempt, the others are
 * parked in the retry log, in a tier of their own, and come from there when their turn has come.
 */
export class VisitorOrder {
  readonly #options: VisitorOrderOptions;
  /** Visitors whose next events may be released. */
  readonly #ready = new Set<string>();
  /** Visitors with events that wait again since the request that is being settled. */
  readonly #failed: string[] = [];
  /** Events on their way to the log, by visitor and id. */
  readonly #storing = new Map<string, Promise<unknown>>();
  #released = 0;
  #isOpen = false;
  #isFull = false;
  #working: Promise<void> | undefined;
  #reading: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: VisitorOrderOptions) {
    this.#options = options;
  }

  get visitorsWaiting(): number {
    return this.#options.waiting.size;
  }

  get eventsParked(): number {
    return this.#options.waiting.parked;
  }

  /** Whether events are on their way to the log. */
  get isStoring(): boolean {
    return this.#storing.size > 0;
  }

  /** Whether no fresh events are taken, as things were looked at last. */
  get isPaused(): boolean {
    return this.#isFull;
  }

  /** Whether so much waits that no fresh events are to be taken. */
  isFull(): boolean {
    const { waiting, frames, limits, counts } = this.#options;
    const share = Math.max(
      waiting.size / limits.visitorsMax,
      waiting.parked / limits.eventsMax,
      frames.bytes / limits.bytesMax,
    );
    const isFull = share >= (this.#isFull ? resumeShare : 1);
    if (isFull && !this.#isFull) counts.order_pauses += 1;
    this.#isFull = isFull;
    return isFull;
  }

  /** Whether an event that may be sent goes into its visitor's lane. If not it is taken care of. */
  admits(item: DispatchItem): boolean {
    const { waiting, counts, onSettled, onFailed } = this.#options;
    const { visitorId, id } = item.head;
    if (!waiting.isWaiting(visitorId)) return true;
    item.frame.isStarted = true;
    if (waiting.knows(visitorId, id)) {
      // It came a second time. Its frame is done with it once the log surely has the first.
      counts.already_waiting += 1;
      Promise.resolve(this.#storing.get(keyOf(item))).then(() => onSettled(item), onFailed);
    } else {
      this.#parkFresh(item);
    }
    return false;
  }

  /** An event comes back from its wait. It is known, unless somebody else has put it there. */
  returned({ head }: DispatchItem): void {
    const { waiting, lanes } = this.#options;
    if (waiting.isHead(head.visitorId, head.id)) return;
    waiting.addHead(head.visitorId, head.id);
    const isFollower = (item: DispatchItem): boolean =>
      item.visitorId === head.visitorId && !waiting.isHead(item.visitorId, item.head.id);
    for (const item of lanes.remove(isFollower)) this.#putBehind(item);
  }

  /** An attempt failed and is to be made again: whether the event is the one its visitor waits for. */
  isNext({ head: { visitorId, id }, follower }: DispatchItem): boolean {
    const { waiting } = this.#options;
    if (waiting.hasHead(visitorId) && !waiting.isHead(visitorId, id)) return false;
    waiting.addHead(visitorId, id, follower);
    this.#failed.push(visitorId);
    return true;
  }

  /** An event failed behind another one of its visitor, or was not tried for its sake. Settles once the log has it. */
  waitsBehind(item: DispatchItem, attempted: Attempted, reason: string): Promise<unknown> {
    const { follower } = item;
    this.#failed.push(item.visitorId);
    if (follower === undefined) return this.#park(item, attempted, reason);
    follower.attempted = attempted;
    this.#options.held.abandon(item.frame);
    return Promise.resolve();
  }

  /** All outcomes of a request are known: what is behind those that failed does not go on. */
  requestSettled(): void {
    const { waiting, lanes } = this.#options;
    for (const visitorId of this.#failed.splice(0)) {
      const isFollower = ({ head }: DispatchItem): boolean => !waiting.isHead(visitorId, head.id);
      for (const item of lanes.removeBehind(visitorId, isFollower)) this.#putBehind(item);
    }
  }

  /** The event was put back where it waits, and nothing was tried. */
  waitsAgain({ head: { visitorId, id } }: DispatchItem): void {
    this.#options.waiting.addHead(visitorId, id);
  }

  /** The event is not tried any more, whatever became of it: the next one of its visitor may go. */
  done({ head: { visitorId, id }, follower }: DispatchItem): void {
    const { waiting } = this.#options;
    if (waiting.size === 0) return;
    waiting.settle(visitorId, id, follower);
    this.#offer(visitorId);
    this.#tellOfRoom();
  }

  /** The log is being written an event. */
  storing(item: DispatchItem, stored: Promise<unknown>): void {
    const key = keyOf(item);
    this.#storing.set(key, stored);
    const forget = (): void => {
      if (this.#storing.get(key) === stored) this.#storing.delete(key);
    };
    stored.then(forget, forget);
  }

  /** Parked events may be sent; at first they may not. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#wake();
  }

  close(): void {
    this.#isOpen = false;
    clearTimeout(this.#timer);
  }

  /** The log has parked events. Nearly always they are known. */
  parkedStored(): void {
    this.#reading ??= this.#readNew().finally(() => {
      this.#reading = undefined;
    });
  }

  async stop(): Promise<void> {
    this.close();
    await this.#reading;
    await this.#working;
    await this.#options.frames.stop();
  }

  /** The index was read: whoever may go does. */
  start(): void {
    for (const visitorId of this.#options.waiting.visitorIds()) this.#offer(visitorId);
  }

  /** Takes up what another process has parked for the destination since it was read: one that was thought to be gone. */
  async #readNew(): Promise<void> {
    const { waiting, frames, onError } = this.#options;
    const isOurs = (): boolean => this.#storing.size > 0;
    try {
      for (;;) {
        const { lastSeq } = frames;
        const found = isOurs() ? undefined : await frames.readAfter(lastSeq);
        // What was on its way to the log meanwhile may be what was found.
        if (found === undefined || isOurs() || frames.lastSeq !== lastSeq) return;
        for (const visitorId of takeParkedFrame(found, waiting, frames)) this.#offer(visitorId);
      }
    } catch (error) {
      onError(error);
    }
  }

  /** Takes an event out of its lane, not sent, and has it wait. */
  #putBehind(item: DispatchItem): void {
    if (item.follower === undefined) this.#parkFresh(item);
    else this.#options.held.abandon(item.frame);
  }

  #parkFresh(item: DispatchItem): void {
    const { onSettled, onFailed } = this.#options;
    const { attempts, firstAttemptAtMs } = item;
    this.#park(item, { attempts, firstAttemptAtMs }, 'waits behind an earlier event of its visitor').then(
      () => onSettled(item),
      onFailed,
    );
  }

  #park(item: DispatchItem, attempted: Attempted, reason: string): Promise<unknown> {
    const { waiting, frames, counts, retryWriter, note, onUnreadable } = this.#options;
    item.frame.isStarted = true;
    if (!item.isReadable) return onUnreadable(item.line);
    const { visitorId, id } = item.head;
    const follower = waiting.park(visitorId, id);
    counts.parked += 1;
    note(item, 'retrying', attempted.attempts, reason);
    const nowMs = Date.now();
    const { attempts, firstAttemptAtMs: firstAttemptAt = nowMs } = attempted;
    const times = { firstAttemptAt, lastAttemptAt: nowMs, notBefore: nowMs };
    const record = { v: 1, attempts, ...times, reason, event: item.resolved } as const;
    // What was parked before is known from the index: the log must never take this for it.
    const stored = retryWriter.add(parkedTier, record, randomUUID()).then(({ seq, index, ...frame }: StoredRecord) => {
      frames.stored(seq, frame.records, frame.bytes);
      follower.place = { seq, index };
      this.#offer(visitorId);
    });
    this.storing(item, stored);
    return stored;
  }

  #offer(visitorId: string): void {
    if (!this.#options.waiting.canRelease(visitorId)) return;
    this.#ready.add(visitorId);
    this.#wake();
  }

  #wake(): void {
    if (this.#working !== undefined || !this.#hasWork()) return;
    this.#working = this.#work().finally(() => {
      this.#working = undefined;
      // Something may have come after the last look.
      if (this.#timer === undefined) this.#wake();
    });
  }

  #hasWork(): boolean {
    return this.#isOpen && this.#ready.size > 0 && this.#released < releasedMax;
  }

  async #work(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { waiting, releaseMax, onError } = this.#options;
    while (this.#hasWork()) {
      const [visitorId = ''] = this.#ready;
      this.#ready.delete(visitorId);
      const followers = waiting.release(visitorId, releaseMax());
      try {
        await this.#handOut(followers);
      } catch (error) {
        onError(error);
        this.#timer = setTimeout(() => {
          this.#timer = undefined;
          this.#wake();
        }, errorWaitMs);
        return;
      }
    }
  }

  /** Hands out events that were released, all at once: one that fails has those behind it given back. */
  async #handOut(followers: readonly Follower[]): Promise<void> {
    const read = ({ place }: Follower): Promise<string | undefined> =>
      place === undefined ? Promise.resolve(undefined) : this.#options.frames.read(place);
    let lines: readonly (string | undefined)[];
    try {
      lines = await Promise.all(followers.map(read));
    } catch (error) {
      for (const follower of followers) this.#giveBack(follower);
      throw error;
    }
    for (const [index, follower] of followers.entries()) {
      if (this.#isOpen) this.#release(follower, lines[index]);
      else this.#giveBack(follower);
    }
    this.#options.wake();
  }

  #release(follower: Follower, line: string | undefined): void {
    const { waiting, frames, keeper, counts, onReleased, onUnreadable, onFailed } = this.#options;
    const { visitorId, eventId, place } = follower;
    const finished = (): void => {
      if (place !== undefined) frames.finished(place);
      this.#tellOfRoom();
    };
    const record = line === undefined ? undefined : readRecord(line);
    if (record === undefined) {
      if (line === undefined) counts.parked_lost += 1;
      const kept = line === undefined ? Promise.resolve() : onUnreadable(line);
      kept.then(() => {
        waiting.settle(visitorId, eventId, follower);
        finished();
        this.#offer(visitorId);
      }, onFailed);
      return;
    }
    this.#released += 1;
    const ended = (): void => {
      this.#released -= 1;
      this.#wake();
    };
    onReleased({
      record,
      follower,
      bytes: line?.length ?? 0,
      finished: () => {
        ended();
        keeper.commit(finished);
      },
      abandoned: () => {
        ended();
        this.#giveBack(follower);
      },
    });
  }

  #tellOfRoom(): void {
    if (this.#isFull && !this.isFull()) this.#options.wake();
  }

  #giveBack(follower: Follower): void {
    this.#options.waiting.giveBack(follower);
    this.#offer(follower.visitorId);
  }
}

function keyOf({ head }: DispatchItem): string {
  return `${head.visitorId}\n${head.id}`;
}

/** Undefined for what this build does not know. */
function readRecord(line: string): RetryRecord | undefined {
  try {
    return parseRetryRecord(line);
  } catch (error) {
    if (error instanceof FrameError) return undefined;
    throw error;
  }
}
