import { setTimeout as wait } from 'node:timers/promises';
import { Wakeup } from '../../worker/wakeup.ts';
import type { EventOfVisitor } from '../events/event-of-visitor.ts';
import type { ParkedFrames } from './parked-frames.ts';
import { takeParkedFrame } from './read-waiting.ts';
import type { ComesAgain } from './read-waiting.ts';
import type { LoadedEvent, WantedEvent } from '../events/referenced-events.ts';
import type { Follower, HeadPlace, ParkedAs, StoredRecord, WaitingHead, WaitingVisitors } from './waiting-visitors.ts';

/** Limits of the events that wait because of the order of their visitors. */
export type OrderLimits = {
  /** Maximum number of visitors with a failed event. */
  readonly visitorsMax: number;
  /** Maximum number of events that wait for an earlier event of their visitor. */
  readonly eventsMax: number;
  /** Maximum bytes of these events in the retry log. */
  readonly bytesMax: number;
};

export type VisitorOrderOptions = {
  /** The index of waiting events, and their frames in the retry log. */
  readonly waiting: WaitingVisitors;
  readonly frames: ParkedFrames;
  readonly comesAgain: ComesAgain;
  readonly limits: OrderLimits;
  readonly counts: Record<'order_pauses' | 'parked_lost' | 'retries_lost', number>;
  /** Reads parked events. */
  readonly load: (wanted: readonly WantedEvent[]) => Promise<readonly LoadedEvent[]>;
  /** Called with an error of the log; the failed work is repeated. */
  readonly warn: (error: unknown) => void;
};

/** A parked event whose turn has come. The caller owns it until it calls `finished` or `giveBack`. */
export type ReleasedEvent = {
  readonly follower: Follower;
  readonly loaded: LoadedEvent;
};

/** Maximum number of released events that are in the lanes, or on their way there. */
const releasedMax = 1_024;
const errorWaitMs = 1_000;
/** Once a limit was reached, the destination takes fresh events again below this fraction of every limit. */
const resumeShare = 0.9;

/**
 * Keeps each visitor's events in order across failed attempts. While one event waits for its next attempt, later events
 * are parked in a separate tier of the retry log, and are read from that tier when their turn has come. This class
 * tracks the waiting events; callers store and send them.
 */
export class VisitorOrder {
  readonly #options: VisitorOrderOptions;
  readonly #wakeup = new Wakeup();
  /** Visitors whose next events may be released. */
  readonly #ready = new Set<string>();
  /** Visitors of events that failed or were not tried since the last call of `takeFailed`. */
  readonly #failed: string[] = [];
  /** Events that are being stored, by visitor and key. */
  readonly #storing = new Map<string, Promise<unknown>>();
  #released = 0;
  #releasedTogetherMax = 1;
  #isOpen = false;
  #isStopped = false;
  #isFull = false;
  #takingUp: Promise<void> | undefined;

  constructor(options: VisitorOrderOptions) {
    this.#options = options;
    for (const visitorId of options.waiting.visitorIds()) this.#offer(visitorId);
  }

  /** Call once the whole retry log is open: from then on, the log records which parked events are settled. */
  begin(): void {
    this.#options.frames.open();
  }

  get visitorsWaiting(): number {
    return this.#options.waiting.size;
  }

  get eventsParked(): number {
    return this.#options.waiting.parked;
  }

  /** Bytes of the retry log that parked events take. */
  get bytesParked(): number {
    return this.#options.frames.bytes;
  }

  /** Whether no fresh events are taken, as of the last check. */
  get isPaused(): boolean {
    return this.#isFull;
  }

  /** Whether so many events wait that no fresh ones are taken. */
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

  /**
   * The place of an event in its visitor's order: `next`; `behind` waiting events; or `known`, if the event already
   * waits and was delivered again. Records of earlier builds have only the event's id as their key.
   */
  placeOf(event: EventOfVisitor & { readonly head: { readonly id: string } }): 'next' | 'behind' | 'known' {
    const { waiting } = this.#options;
    const { visitorId, head } = event;
    if (!waiting.isWaiting(visitorId)) return 'next';
    return waiting.knows(visitorId, event.key) || waiting.knows(visitorId, head.id) ? 'known' : 'behind';
  }

  /** Whether an event is the one for which its visitor's other events wait. */
  isHead({ visitorId, key }: EventOfVisitor): boolean {
    return this.#options.waiting.isHead(visitorId, key);
  }

  /**
   * Call when an event is read for its next attempt. Returns whether the event was unknown here, because another
   * process stored it.
   */
  returned({ visitorId, key }: EventOfVisitor, place: HeadPlace): boolean {
    const { waiting } = this.#options;
    if (waiting.isHead(visitorId, key)) return false;
    waiting.addHead(visitorId, key);
    waiting.placeHead(visitorId, key, place);
    return true;
  }

  /**
   * Call when an attempt failed and will be repeated. Returns false if the event has to wait for another event of its
   * visitor first.
   */
  failed({ visitorId, key }: EventOfVisitor, follower: Follower | undefined): boolean {
    const { waiting } = this.#options;
    this.#failed.push(visitorId);
    if (waiting.hasHead(visitorId) && !waiting.isHead(visitorId, key)) return false;
    waiting.addHead(visitorId, key, follower);
    return true;
  }

  /** Call when an event was not tried because of an earlier event of its visitor. */
  passedOver({ visitorId }: EventOfVisitor): void {
    this.#failed.push(visitorId);
  }

  /** The visitors of events that failed or were not tried since the last call: their later events must wait. */
  takeFailed(): readonly string[] {
    return this.#failed.length === 0 ? this.#failed : this.#failed.splice(0);
  }

  /** Call when no attempt was made, so that the event waits for its next attempt again. */
  waitsAgain({ visitorId, key }: EventOfVisitor): void {
    this.#options.waiting.addHead(visitorId, key);
  }

  /** Call when the log has stored an event that waits for its next attempt. */
  placed({ visitorId, key }: EventOfVisitor, place: HeadPlace): void {
    this.#options.waiting.placeHead(visitorId, key, place);
  }

  /** Puts an event behind all others of its visitor. Call `parked` with its place once the log has it. */
  park({ visitorId, key }: EventOfVisitor, as: ParkedAs): Follower {
    return this.#options.waiting.park(visitorId, key, as);
  }

  /** Call when a parked event was stored elsewhere instead of in its tier of the log. */
  unpark(follower: Follower): void {
    this.#options.waiting.unpark(follower);
    this.#offer(follower.visitorId);
  }

  parked(follower: Follower, { seq, index, records, bytes }: StoredRecord): void {
    this.#options.frames.stored(seq, records, bytes);
    follower.place = { seq, index };
    this.#offer(follower.visitorId);
  }

  /** Call when the event is settled, whatever its result: the next event of its visitor may then be sent. */
  done(event: EventOfVisitor, follower: Follower | undefined): void {
    const { waiting } = this.#options;
    if (waiting.size === 0) return;
    waiting.settle(event.visitorId, event.key, follower);
    this.#offer(event.visitorId);
  }

  /** The events for which other events wait, with their places if known. */
  heads(): readonly WaitingHead[] {
    return [...this.#options.waiting.heads()];
  }

  /** Whether the event is being stored. */
  isStoring(event: EventOfVisitor): boolean {
    return this.#storing.has(keyOf(event));
  }

  /**
   * Call when the log does not have a head in its place. Unless the head was settled or moved since the check, it
   * counts as lost, and the events that wait for it continue. Returns whether the head was lost.
   */
  dropLost({ visitorId, key, place }: Pick<WaitingHead, 'visitorId' | 'key' | 'place'>): boolean {
    const { waiting, counts } = this.#options;
    if (!waiting.isHead(visitorId, key) || waiting.placeOfHead(visitorId, key) !== place) return false;
    if (this.isStoring({ visitorId, key })) return false;
    counts.retries_lost += 1;
    this.done({ visitorId, key }, undefined);
    return true;
  }

  /** Call when an event is being stored. */
  storing(event: EventOfVisitor, stored: Promise<unknown>): void {
    const key = keyOf(event);
    this.#storing.set(key, stored);
    const forget = (): void => {
      if (this.#storing.get(key) === stored) this.#storing.delete(key);
    };
    stored.then(forget, forget);
  }

  /** Settles once the log has the event, if it is being stored. */
  async stored(event: EventOfVisitor): Promise<void> {
    await this.#storing.get(keyOf(event));
  }

  /**
   * Allows parked events to be sent, up to `releasedTogetherMax` events of a visitor at a time; initially none may be
   * sent.
   */
  open(releasedTogetherMax: number): void {
    this.#releasedTogetherMax = releasedTogetherMax;
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#wakeup.ring();
  }

  close(): void {
    this.#isOpen = false;
  }

  /**
   * Yields parked events whose turn has come, grouped by visitor: if one fails, the events after it are handed back.
   * Ends when the order is stopped.
   */
  async *released(): AsyncGenerator<readonly ReleasedEvent[], void, undefined> {
    const { waiting, warn } = this.#options;
    while (!this.#isStopped) {
      if (!this.#isOpen || this.#ready.size === 0 || this.#released >= releasedMax) {
        await this.#wakeup.wait();
        continue;
      }
      const [visitorId = ''] = this.#ready;
      this.#ready.delete(visitorId);
      const followers = waiting.release(visitorId, this.#releasedTogetherMax);
      try {
        const loaded = await this.#options.load(followers.map(wantedOf));
        if (this.#isOpen) yield this.#release(followers, loaded);
        else for (const follower of followers) this.#putBack(follower);
      } catch (error) {
        for (const follower of followers) this.#putBack(follower);
        warn(error);
        await wait(errorWaitMs);
      }
    }
  }

  /**
   * Whether a released event may still be sent: its visitor may by now have a failed event again, for which it must
   * wait.
   */
  mayGo({ visitorId }: Follower): boolean {
    return !this.#options.waiting.hasHead(visitorId);
  }

  /** Call when a released event is settled: others may then be released. Call `finished` once this is stored. */
  settled(): void {
    this.#released -= 1;
    this.#wakeup.ring();
  }

  /** Call when it is stored that a released event is settled: the event may then leave the log. */
  finished({ place }: Follower): void {
    if (place !== undefined) this.#options.frames.finished(place);
  }

  /** Call when a released event was stored elsewhere, and will never be sent. */
  drop(follower: Follower): void {
    this.settled();
    this.done(follower, follower);
    this.finished(follower);
  }

  /** Call when a released event has to wait again. */
  giveBack(follower: Follower): void {
    this.settled();
    this.#putBack(follower);
  }

  /** Adds events that a previous dispatcher parked after this dispatcher had read the log. */
  takeUpParked(): void {
    this.#takingUp ??= this.#takeUp().finally(() => {
      this.#takingUp = undefined;
    });
  }

  async stop(): Promise<void> {
    this.close();
    this.#isStopped = true;
    this.#wakeup.ring();
    await this.#takingUp;
    await this.#options.frames.stop();
  }

  async #takeUp(): Promise<void> {
    const { waiting, frames, comesAgain, warn } = this.#options;
    try {
      for (;;) {
        const { removals } = frames;
        const found = await frames.readNext();
        if (found === undefined) return;
        if (frames.knows(found.seq)) {
          frames.scanned(found.seq);
          continue;
        }
        // Stops here: the frame may be one that this process is storing, or one that was removed since it was read.
        if (this.#storing.size > 0 || frames.removals !== removals) return;
        for (const visitorId of takeParkedFrame(found, waiting, frames, comesAgain)) this.#offer(visitorId);
      }
    } catch (error) {
      warn(error);
    }
  }

  #release(followers: readonly Follower[], loaded: readonly LoadedEvent[]): ReleasedEvent[] {
    this.#released += followers.length;
    return followers.map((follower, index) => {
      const event = loaded[index] ?? { kind: 'gone' };
      if (event.kind === 'gone') this.#options.counts.parked_lost += 1;
      return { follower, loaded: event };
    });
  }

  #putBack(follower: Follower): void {
    this.#options.waiting.giveBack(follower);
    this.#offer(follower.visitorId);
  }

  #offer(visitorId: string): void {
    if (!this.#options.waiting.canRelease(visitorId)) return;
    this.#ready.add(visitorId);
    this.#wakeup.ring();
  }
}

function keyOf({ visitorId, key }: EventOfVisitor): string {
  return `${visitorId}\n${key}`;
}

const wantedOf = ({ visitorId, key, origin, isCopied, place }: Follower): WantedEvent => ({
  visitorId,
  key,
  origin,
  copy: isCopied ? place : undefined,
});
