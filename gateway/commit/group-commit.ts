import { ConcurrencyLimit } from '../../shared/limits/index.ts';
import type { EventSlice, FrameOutcome, FrameWaiter } from './frame.ts';
import { Frame } from './frame.ts';
import type { Pace } from './crowd-pace.ts';
import type { LogGate } from './log-gate.ts';

export type GroupCommitSettings = {
  readonly partitions: number;
  readonly frameBytesMax: number;
  /** Time after which a growing frame is sent although another frame is in flight. */
  readonly frameLingerMs: number;
  /** A round of this size is sent at once; a round of half this size waits half as long. */
  readonly roundBytes: number;
  readonly framesInFlightMax: number;
  readonly queueEventsMax: number;
  readonly queueBytesMax: number;
  /**
   * Time from an event's arrival until its client has the answer. The outcome is decided within nine tenths of it.
   */
  readonly deadlineMs: number;
};

/** Stores one frame of a partition. Resolves by `deadlineAtMs` on the monotonic clock; never throws. */
export type StoreFrame = (partition: number, payload: Uint8Array, deadlineAtMs: number) => Promise<FrameOutcome>;

/** Called for each account with the bytes of its events in a frame that was stored or may have been stored. */
export type OnStored = (partition: number, accountId: string, bytes: number) => void;

export type FrameStats = {
  frames: number;
  frameBytes: number;
  events: number;
  /** Frames closed because they were full, because nothing was in flight, or because they had waited long enough. */
  closedBySize: number;
  closedByRound: number;
  closedByLinger: number;
  /** Frames whose events waited too long before they could be sent. */
  expired: number;
};

const expiryCheckMs = 50;
/**
 * Fraction of the deadline. The rest is for a late event loop and for sending the answer, since the client's clock
 * includes both.
 */
const decidedShare = 0.9;
const framesKept = 16;
const frameBytesKept = 2 * 1024 ** 2;

/**
 * Group commit: the events of many requests travel to the log as one message. Each partition has one publish in flight
 * at most, which keeps its order; events that arrive meanwhile become the next frame.
 *
 * An idle gateway sends each event at once. A busy one sends in rounds, one frame for each partition that has events,
 * and lets frames grow until the round is acknowledged, because the log syncs each message to disk and is limited by
 * the number of messages. Only a frame that is full or has waited for `frameLingerMs` is sent outside of a round.
 * Small rounds are spaced out, because on a fast disk they would follow each other faster than any client notices.
 *
 * Large: rounds, lingering frames and the stop are one state of each partition.
 */
export class GroupCommit {
  readonly #settings: GroupCommitSettings;
  readonly #pace: Pace;
  readonly #gate: LogGate;
  readonly #store: StoreFrame;
  readonly #onStored: OnStored;
  readonly #lanes: Lane[];
  readonly #spare: Frame[] = [];
  readonly #decidedMs: number;
  /** Runs while something is queued. */
  #expiry: NodeJS.Timeout | undefined;
  #flushSoon = false;
  #flushLater = false;
  #nextRound: NodeJS.Timeout | undefined;
  #roundAtMs = Number.NEGATIVE_INFINITY;
  #inFlight = 0;
  /** Events and bytes of each account that wait or are in flight. */
  readonly #events: ConcurrencyLimit;
  readonly #bytes: ConcurrencyLimit;
  #idle: (() => void) | undefined;
  readonly stats: FrameStats = {
    frames: 0,
    frameBytes: 0,
    events: 0,
    closedBySize: 0,
    closedByRound: 0,
    closedByLinger: 0,
    expired: 0,
  };

  /** `pace`: the least time between two small rounds; a round after a longer pause never waits. */
  constructor(
    settings: GroupCommitSettings,
    pace: Pace,
    gate: LogGate,
    store: StoreFrame,
    onStored: OnStored = () => undefined,
  ) {
    this.#settings = settings;
    this.#pace = pace;
    this.#gate = gate;
    this.#store = store;
    this.#onStored = onStored;
    this.#decidedMs = settings.deadlineMs * decidedShare;
    this.#events = queueLimit(settings.queueEventsMax);
    this.#bytes = queueLimit(settings.queueBytesMax);
    this.#lanes = Array.from({ length: settings.partitions }, (_, partition) => new Lane(partition));
    gate.onClose(() => this.#failQueued('stalled'));
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get queuedEvents(): number {
    return this.#events.total;
  }

  get queuedBytes(): number {
    return this.#bytes.total;
  }

  /** Whether the log works and the queue has room for events of this account; if not, refuse the request. */
  hasRoom(events: number, bytes: number, accountId: string): boolean {
    const { open } = this.#gate;
    return open && roomIn(this.#events, accountId, events) && roomIn(this.#bytes, accountId, bytes);
  }

  /** Adds an event to its partition's next frame and copies its bytes. Call `hasRoom` first. */
  append(partition: number, head: string | Uint8Array, slice: EventSlice, waiter: FrameWaiter, tag: number): void {
    const lane = this.#lanes[partition];
    if (lane === undefined) throw new RangeError(`appending an event: there is no partition ${partition}`);
    const bytes = head.length + slice.length + 2;
    if (lane.open !== undefined && lane.open.writer.length + bytes > this.#settings.frameBytesMax) {
      lane.sealed.push(lane.open);
      lane.open = undefined;
      this.stats.closedBySize += 1;
    }
    if (lane.open === undefined) {
      lane.open = this.#spare.pop() ?? new Frame();
      lane.open.openedAtMs = performance.now();
    }
    const before = lane.open.writer.length;
    lane.open.add(head, slice, waiter, tag);
    this.#bytes.charge(slice.accountId, lane.open.writer.length - before);
    this.#events.charge(slice.accountId, 1);
    this.#expiry ??= setInterval(() => this.#expire(performance.now()), expiryCheckMs);
    if (lane.publishing) return;
    if (this.#inFlight > 0) this.#planFlushLater(this.#settings.frameLingerMs);
    else if (this.#nextRound === undefined || this.#roundWaitMs(performance.now()) < 1) this.#planFlushSoon();
  }

  /** Resolves once nothing waits or is in flight. */
  async drained(): Promise<void> {
    if (this.queuedEvents === 0) return;
    this.#flush();
    await new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
  }

  stop(): void {
    clearInterval(this.#expiry);
    clearTimeout(this.#nextRound);
  }

  #planFlushSoon(): void {
    if (this.#flushSoon) return;
    this.#flushSoon = true;
    // Immediates run after the sockets that were readable have been read, so all of their events share a frame.
    setImmediate(() => {
      this.#flushSoon = false;
      this.#flush();
    });
  }

  #planFlushLater(afterMs: number): void {
    if (this.#flushLater) return;
    this.#flushLater = true;
    setTimeout(() => {
      this.#flushLater = false;
      this.#flush();
    }, afterMs);
  }

  #flush(): void {
    // With nothing in flight all partitions are sent together, so the log syncs their frames without a pause.
    const isRound = this.#inFlight === 0;
    if (isRound && this.#isTooSoon()) return;
    while (this.#inFlight < this.#settings.framesInFlightMax) {
      const lane = this.#longestWaiting();
      if (lane?.oldest === undefined) return;
      const waitMs = isRound || lane.sealed.length > 0 ? 0 : this.#lingerLeft(lane.oldest);
      if (waitMs > 0) return this.#planFlushLater(waitMs);
      this.#publishNext(lane, isRound);
    }
  }

  /** Whether the next round has to wait; a timer then starts it. */
  #isTooSoon(): boolean {
    if (this.queuedEvents === 0) return true;
    const nowMs = performance.now();
    const waitMs = this.#roundWaitMs(nowMs);
    if (waitMs < 1) {
      clearTimeout(this.#nextRound);
      this.#nextRound = undefined;
      this.#roundAtMs = nowMs;
      return false;
    }
    this.#nextRound ??= setTimeout(() => {
      this.#nextRound = undefined;
      this.#flush();
    }, waitMs);
    return true;
  }

  /** How long the next round still waits, in ms. Valid only with nothing in flight, when all queued events wait. */
  #roundWaitMs(nowMs: number): number {
    if (this.#lanes.some(({ sealed }) => sealed.length > 0)) return 0;
    const smallness = Math.max(0, 1 - this.queuedBytes / this.#settings.roundBytes);
    return Math.floor(this.#roundAtMs + this.#pace.msAt(nowMs) * smallness - nowMs);
  }

  #lingerLeft(frame: Frame): number {
    return frame.openedAtMs + this.#settings.frameLingerMs - performance.now();
  }

  /** The lane whose turn it is when there are fewer slots than partitions. */
  #longestWaiting(): Lane | undefined {
    let found: Lane | undefined;
    for (const lane of this.#lanes) {
      const { oldest } = lane;
      if (lane.publishing || oldest === undefined) continue;
      if (found?.oldest === undefined || oldest.openedAtMs < found.oldest.openedAtMs) found = lane;
    }
    return found;
  }

  #publishNext(lane: Lane, isRound: boolean): void {
    const frame = this.#takeFrame(lane, isRound);
    if (frame === undefined) return;
    lane.publishing = true;
    this.#inFlight += 1;
    void this.#publish(lane, frame);
  }

  #takeFrame(lane: Lane, isRound: boolean): Frame | undefined {
    const sealed = lane.sealed.shift();
    if (sealed !== undefined) return sealed;
    const open = lane.takeOpen();
    if (open === undefined) return undefined;
    if (isRound) this.stats.closedByRound += 1;
    else this.stats.closedByLinger += 1;
    return open;
  }

  async #publish(lane: Lane, frame: Frame): Promise<void> {
    const payload = frame.writer.bytes();
    this.stats.frames += 1;
    this.stats.frameBytes += payload.length;
    this.stats.events += frame.writer.events;
    const outcome = await this.#store(lane.partition, payload, frame.openedAtMs + this.#decidedMs);
    // A publish without an answer may still be stored.
    if (outcome === 'stored' || outcome === 'timeout') {
      frame.eachAccount((accountId, bytes) => this.#onStored(lane.partition, accountId, bytes));
    }
    lane.publishing = false;
    this.#inFlight -= 1;
    this.#decide(frame, outcome);
    if (outcome === 'stored') this.#gate.noteStored();
    else this.#gate.noteFailure(outcome);
    this.#flush();
  }

  #decide(frame: Frame, outcome: FrameOutcome): void {
    frame.eachAccount((accountId, bytes, events) => {
      this.#bytes.release(accountId, bytes);
      this.#events.release(accountId, events);
    });
    const keep = this.#spare.length < framesKept && frame.writer.length <= frameBytesKept;
    frame.decide(outcome);
    if (keep) this.#spare.push(frame);
    if (this.queuedEvents === 0) this.#idle?.();
  }

  #expire(nowMs: number): void {
    if (this.queuedEvents === 0) {
      clearInterval(this.#expiry);
      this.#expiry = undefined;
      return;
    }
    const openedBefore = nowMs - this.#decidedMs + expiryCheckMs;
    for (const lane of this.#lanes) {
      while (lane.oldest !== undefined && lane.oldest.openedAtMs < openedBefore) {
        this.stats.expired += 1;
        const frame = lane.sealed.shift() ?? lane.takeOpen();
        if (frame !== undefined) this.#decide(frame, 'stalled');
      }
    }
  }

  #failQueued(outcome: FrameOutcome): void {
    for (const lane of this.#lanes) {
      for (const frame of lane.sealed.splice(0)) this.#decide(frame, outcome);
      const open = lane.takeOpen();
      if (open !== undefined) this.#decide(open, outcome);
    }
  }
}

/** One account may use half of the queue, so its burst leaves room for the others. */
const queueLimit = (max: number): ConcurrencyLimit => new ConcurrencyLimit({ max, ofOwnerMax: Math.ceil(max / 2) });

/** An account may use the whole queue while it has nothing queued: a batch larger than half would always be refused. */
const roomIn = (limit: ConcurrencyLimit, accountId: string, amount: number): boolean =>
  limit.usedBy(accountId) === 0 ? limit.total + amount <= limit.max : limit.hasRoom(accountId, amount);

/** The frames of one partition, oldest first: frames closed for their size, then the growing one. */
class Lane {
  readonly partition: number;
  readonly sealed: Frame[] = [];
  open: Frame | undefined;
  publishing = false;

  constructor(partition: number) {
    this.partition = partition;
  }

  get oldest(): Frame | undefined {
    return this.sealed[0] ?? this.open;
  }

  takeOpen(): Frame | undefined {
    const { open } = this;
    this.open = undefined;
    return open;
  }
}
