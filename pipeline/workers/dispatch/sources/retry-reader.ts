import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import type { StoredMessage } from '../../../../shared/nats/messages/subject-log.ts';
import { deleteMessages, purgeSubject, readNext } from '../../../../shared/nats/messages/subject-log.ts';
import { retrySubject } from '../../../../shared/contracts/subjects.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import type { RetryRecord } from '../../../../shared/contracts/events/retry-record.ts';
import {
  decodeRetryFrame,
  delayOfTier,
  eventTiers,
  isParkedTier,
  isReplayTier,
  retryHeadBytes,
  retryTierDelaysMs,
} from '../../../../shared/contracts/events/retry-record.ts';
import { every } from '../../../../shared/runtime/every.ts';
import type { Periodic } from '../../../../shared/runtime/every.ts';
import { Wakeup } from '../../worker/wakeup.ts';
import { eventOfRecord } from '../events/event-of-visitor.ts';
import { referredTo } from '../events/held-references.ts';
import type { HeldReferences } from '../events/held-references.ts';
import type { LoadedEvent, ReferencedEvents } from '../events/referenced-events.ts';
import type { SettledNotes } from '../waiting/settled-notes.ts';

/** A frame of the retry log: its place, its bytes in the log, and the bytes of its events. */
export type HeldRetries = {
  readonly tier: number;
  readonly seq: number;
  readonly bytes: number;
  readonly eventBytes: number;
  /** How often the tier had lost its end when the frame was read: a later frame may have the same sequence. */
  readonly losses: number;
};

/** A frame of the retry log whose events are not loaded yet. */
type StoredFrame = {
  readonly tier: number;
  readonly seq: number;
  /** Bytes in the log. */
  readonly bytes: number;
  /** Approximate bytes of its events. */
  readonly eventBytes: number;
  readonly losses: number;
  /** Whether the frame belongs to a replay, and not to failed events. */
  readonly isReplay: boolean;
  readonly content: Content<RecordLine>;
};

type Content<Of> =
  | { readonly kind: 'records'; readonly records: readonly Of[] }
  /** This build cannot read the frame. */
  | { readonly kind: 'unreadable'; readonly data: Uint8Array; readonly problem: string };

/** A record, and the index of its line in its frame. */
type RecordLine = { readonly index: number; readonly record: RetryRecord };

export type LoadedRecord = RecordLine & { readonly loaded: LoadedEvent };

/** A due frame with its events. The caller owns it until it calls `finished` or `abandoned`. */
export type RetryFrame = Omit<StoredFrame, 'content'> & { readonly content: Content<LoadedRecord> };

export type RetryReaderOptions = {
  readonly connection: LogConnection;
  readonly destinationId: string;
  readonly events: ReferencedEvents;
  readonly references: HeldReferences;
  /**
   * The notes of settled parked events, if parked events are read as due retries because a destination without order
   * sends them at once; undefined if the order of visitors reads parked events.
   */
  readonly parked: SettledNotes | undefined;
  /**
   * Limit on the bytes of finished frames that stay in the log only because an earlier frame of their tier is still in
   * use.
   */
  readonly finishedBytesMax: () => number;
  /** Called with the bytes of removed frames, except frames of replays. */
  readonly onRemoved?: (bytes: number) => void;
  /** Called with an error of the log; the failed work is repeated. */
  readonly warn: (error: unknown) => void;
};

// Maximum number of frames of one tier in memory. A frame is often a single event, and stays in memory until health has
// stored its count.
const framesHeldMax = 128;
const bytesHeldMax = 1024 * 1024;
const purgeEveryMs = 1_000;
const errorWaitMs = 1_000;
const replayLingerMs = 10_000;
const replayLookEveryMs = 100;

type Tier = {
  readonly number: number;
  readonly subject: string;
  readonly isReplay: boolean;
  readonly dueTimes: DueTimes;
  lastFrameMs: number;
  /** Whether the log may have frames whose sequence is `nextSeq` or higher. */
  maybeMore: boolean;
  /** Whether the last read found no frame whose sequence is `nextSeq` or higher. */
  isReadToEnd: boolean;
  nextSeq: number;
  /** Number of frames that were handed back so far. If it changes during a read, the read is repeated. */
  handBacks: number;
  /** The next frame of the tier, read but not taken; its due time is on the monotonic clock. */
  head: { readonly frame: StoredFrame; readonly dueAtMs: number } | undefined;
  /** How often the log had lost the end of the tier. */
  losses: number;
  /** Frames in use, by sequence. */
  readonly held: Map<number, HeldRetries>;
  heldBytes: number;
  /** Bytes of finished frames that are not removed yet, by sequence. */
  readonly finished: Map<number, number>;
  purgedBefore: number;
};

/**
 * Reads the retry log of one destination as its frames fall due. A tier is first in, first out, and all its waits are
 * similar, so its next frame determines the next read. A frame stays in the log until `finished`, so no frame is lost
 * when the process ends, and no position is stored. There is no consumer, since it would cost the log something even
 * while nothing waits.
 */
export class RetryReader {
  readonly #options: RetryReaderOptions;
  /** A tier is added with its first frame, since most destinations never have frames in most tiers. */
  readonly #tiers = new Map<number, Tier>();
  readonly #wakeup = new Wakeup();
  #isOpen = false;
  #isStopped = false;
  #purging: Periodic | undefined;

  constructor(options: RetryReaderOptions) {
    this.#options = options;
  }

  /** Call when a frame was stored in a tier. */
  stored(tier: number): void {
    const found = this.#tierOf(tier);
    if (found === undefined || found.maybeMore) return;
    found.maybeMore = true;
    this.#wakeup.ring();
  }

  /** The sequence up to which a tier is read: later frames get higher ones. */
  readTo(number: number): number {
    const tier = this.#tiers.get(number);
    return tier === undefined ? 0 : (tier.head?.frame.seq ?? tier.nextSeq - 1);
  }

  /**
   * Call when the log, which has lost its end, gave a sequence to another frame: frames from there on are read again.
   * Those that were read before are not in the log any more; if they are in use, their events are still sent.
   */
  wentBack(number: number, seq: number): void {
    const tier = this.#tiers.get(number);
    if (tier === undefined) return;
    const head = tier.head === undefined ? [] : [tier.head.frame];
    for (const lost of [...tier.held.values(), ...head].filter((one) => one.seq >= seq)) {
      this.#release(lost);
      this.#options.references.settled(lost.seq);
    }
    this.#removed(
      tier,
      [...tier.finished.keys()].filter((one) => one >= seq),
    );
    tier.purgedBefore = Math.min(tier.purgedBefore, seq);
    tier.losses += 1;
    this.#readAgain(tier, seq);
  }

  /** Frames are returned only while open; initially closed. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#wakeup.ring();
  }

  close(): void {
    this.#isOpen = false;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Yields the due frames one after the other; ends when the reader is stopped. */
  async *due(): AsyncGenerator<RetryFrame, void, undefined> {
    let waitMs = Infinity;
    while (!this.#isStopped) {
      await this.#wakeup.wait(waitMs);
      waitMs = Infinity;
      try {
        for (const tier of this.#tiers.values()) {
          for (let frame = await this.#take(tier); frame !== undefined; frame = await this.#take(tier)) {
            yield await this.#load(frame);
          }
          if (this.#isOpen) waitMs = Math.min(waitMs, waitOf(tier));
        }
      } catch (error) {
        this.#options.warn(error);
        waitMs = errorWaitMs;
      }
    }
  }

  /** Whether a message was read and all of it is settled. */
  hasFinished({ tier: number, seq }: { readonly tier: number; readonly seq: number }): boolean {
    const tier = this.#tiers.get(number);
    return tier !== undefined && seq < tier.nextSeq && !tier.held.has(seq);
  }

  /** Call when all events of the frame are settled: it may then be removed. */
  finished(frame: HeldRetries): void {
    const tier = this.#release(frame);
    if (tier === undefined) return;
    tier.finished.set(frame.seq, frame.bytes);
    this.#options.references.settled(frame.seq);
    this.#beginPurging();
  }

  /** Call when no event of the frame was sent or counted: the frame and those after it are read again. */
  abandoned(frame: HeldRetries): void {
    const tier = this.#release(frame);
    if (tier !== undefined) this.#readAgain(tier, frame.seq);
  }

  #readAgain(tier: Tier, seq: number): void {
    tier.nextSeq = Math.min(tier.nextSeq, seq);
    tier.handBacks += 1;
    tier.head = undefined;
    tier.maybeMore = true;
    this.#wakeup.ring();
  }

  async stop(): Promise<void> {
    this.close();
    this.#isStopped = true;
    this.#wakeup.ring();
    await this.#beginPurging().stop();
    await this.#purge();
  }

  /** The tier with a number; undefined if this build does not know the tier, or if the order of visitors reads it. */
  #tierOf(number: number): Tier | undefined {
    const known = this.#tiers.get(number);
    if (known !== undefined || !eventTiers.has(number)) return known;
    if (isParkedTier(number) && this.#options.parked === undefined) return undefined;
    const made = newTier(this.#options.destinationId, number);
    this.#tiers.set(number, made);
    return made;
  }

  /** Takes the next frame of a tier if it is due and there is room for it. */
  async #take(tier: Tier): Promise<StoredFrame | undefined> {
    if (tier.head === undefined && this.#mayRead(tier)) await this.#readHead(tier);
    if (!this.#mayTake(tier) || tier.head === undefined || tier.head.dueAtMs > performance.now()) return undefined;
    const { frame } = tier.head;
    tier.head = undefined;
    const { seq, bytes, eventBytes, losses } = frame;
    tier.nextSeq = seq + 1;
    tier.held.set(seq, { tier: tier.number, seq, bytes, eventBytes, losses });
    tier.heldBytes += eventBytes;
    tier.lastFrameMs = performance.now();
    return frame;
  }

  async #load(frame: StoredFrame): Promise<RetryFrame> {
    const { content } = frame;
    if (content.kind === 'unreadable') return { ...frame, content };
    const { connection, events } = this.#options;
    try {
      const wanted = content.records.map(({ record }) => ({
        ...eventOfRecord(record),
        origin: record.origin,
        copy: record.line,
      }));
      const loaded = await events.load(connection, wanted);
      const records = content.records.flatMap((line, at) => {
        const event = loaded[at];
        return event === undefined ? [] : [{ ...line, loaded: event }];
      });
      return { ...frame, content: { kind: 'records', records } };
    } catch (error) {
      this.abandoned(frame);
      throw error;
    }
  }

  #mayTake(tier: Tier): boolean {
    return this.#isOpen && hasRoom(tier);
  }

  /** A replay's next frame is read even while closed: until its references are known, retention may remove its events. */
  #mayRead(tier: Tier): boolean {
    return (this.#isOpen || tier.isReplay) && hasRoom(tier);
  }

  async #readHead(tier: Tier): Promise<void> {
    while (tier.maybeMore && this.#mayRead(tier)) {
      tier.maybeMore = false;
      tier.isReadToEnd = false;
      const { handBacks } = tier;
      const found = await this.#readNext(tier);
      // If earlier frames were handed back meanwhile, the frame that was found is no longer the next.
      if (tier.handBacks !== handBacks) continue;
      if (found === undefined) {
        tier.isReadToEnd = true;
        return;
      }
      tier.maybeMore = true;
      if (tier.held.has(found.seq) || tier.finished.has(found.seq)) {
        tier.nextSeq = found.seq + 1;
        continue;
      }
      const frame = frameOf(tier, found, this.#options.parked);
      if (frame.content.kind === 'records') {
        const { references } = this.#options;
        references.stored(frame.seq, referredTo(frame.content.records.map(({ record }) => record)));
        // Another process stored the frame: nothing else causes the position to be written.
        if (tier.isReplay) references.moved();
      }
      tier.head = { frame, dueAtMs: dueAtMsOf(tier, frame) };
      return;
    }
  }

  async #readNext(tier: Tier): Promise<StoredMessage | undefined> {
    try {
      return await readNext(this.#options.connection, streams.retry, tier.subject, tier.nextSeq);
    } catch (error) {
      tier.maybeMore = true;
      throw error;
    }
  }

  #release({ tier: number, seq, eventBytes, losses }: HeldRetries): Tier | undefined {
    const tier = this.#tiers.get(number);
    if (tier?.held.get(seq)?.losses !== losses) return undefined;
    tier.held.delete(seq);
    tier.heldBytes -= eventBytes;
    this.#wakeup.ring();
    return tier;
  }

  /**
   * Removes finished frames: all frames before the oldest one in use, and frames after it once they take too many
   * bytes.
   */
  async #purge(): Promise<void> {
    for (const tier of this.#tiers.values()) {
      try {
        await this.#purgeBefore(tier, Math.min(tier.nextSeq, ...tier.held.keys()));
        if (sum(tier.finished.values()) <= this.#options.finishedBytesMax()) continue;
        await deleteMessages(this.#options.connection, streams.retry, tier.finished.keys(), (seq) =>
          this.#removed(tier, [seq]),
        );
      } catch (error) {
        this.#options.warn(error);
      }
    }
    await this.#removeNotes().catch(this.#options.warn);
  }

  /** Removes the notes of settled parked events once the log has no parked events. */
  async #removeNotes(): Promise<void> {
    for (const tier of this.#tiers.values()) if (isParkedTier(tier.number) && !isEmpty(tier)) return;
    await this.#options.parked?.write([]);
  }

  #beginPurging(): Periodic {
    return (this.#purging ??= every(purgeEveryMs, () => this.#purge()));
  }

  async #purgeBefore(tier: Tier, before: number): Promise<void> {
    if (before <= tier.purgedBefore) return;
    await purgeSubject(this.#options.connection, streams.retry, tier.subject, before);
    tier.purgedBefore = before;
    this.#removed(
      tier,
      [...tier.finished.keys()].filter((seq) => seq < before),
    );
  }

  #removed(tier: Tier, seqs: readonly number[]): void {
    for (const seq of seqs) {
      if (!tier.isReplay) this.#options.onRemoved?.(tier.finished.get(seq) ?? 0);
      tier.finished.delete(seq);
    }
  }
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}

function newTier(destinationId: string, number: number): Tier {
  return {
    number,
    subject: retrySubject(destinationId, number),
    isReplay: isReplayTier(number),
    // Frames of replays have no delay.
    dueTimes: createDueTimes(retryTierDelaysMs[delayOfTier(number) ?? -1] ?? 0),
    lastFrameMs: -Infinity,
    maybeMore: false,
    isReadToEnd: false,
    nextSeq: 1,
    handBacks: 0,
    head: undefined,
    losses: 0,
    held: new Map(),
    heldBytes: 0,
    finished: new Map(),
    purgedBefore: 1,
  };
}

function hasRoom({ held, heldBytes }: Tier): boolean {
  return held.size < framesHeldMax && heldBytes < bytesHeldMax;
}

/** Time after which a tier is read again although nothing wakes the reader, in ms. */
function waitOf(tier: Tier): number {
  // When a frame is finished or handed back, this makes room and wakes the reader.
  if (!hasRoom(tier)) return Infinity;
  const nowMs = performance.now();
  if (tier.head !== undefined) return Math.max(0, tier.head.dueAtMs - nowMs);
  // A replay continues to write to its tier for a while, and does not announce each frame.
  if (!tier.isReplay || nowMs - tier.lastFrameMs > replayLingerMs) return Infinity;
  tier.maybeMore = true;
  return replayLookEveryMs;
}

/** Whether the log had no frame of the tier at the last read. */
function isEmpty({ maybeMore, isReadToEnd, held, finished }: Tier): boolean {
  return isReadToEnd && !maybeMore && held.size === 0 && finished.size === 0;
}

/** Reads a frame, without the lines that are settled. */
function frameOf(
  { number, isReplay, losses }: Tier,
  { seq, data }: StoredMessage,
  parked: SettledNotes | undefined,
): StoredFrame {
  const content = readContent(data, (index) => parked?.isSettled({ seq, index }) === true);
  const eventBytes = content.kind === 'records' ? sum(content.records.map(({ record }) => record.bytes)) : data.length;
  return { tier: number, seq, bytes: data.length + retryHeadBytes, eventBytes, losses, isReplay, content };
}

function readContent(data: Uint8Array, isSettled: (index: number) => boolean): Content<RecordLine> {
  try {
    const lines = decodeRetryFrame(data).map((record, index) => ({ index, record }));
    return { kind: 'records', records: lines.filter(({ index }) => !isSettled(index)) };
  } catch (error) {
    return { kind: 'unreadable', data, problem: error instanceof Error ? error.message : '' };
  }
}

/** When a frame is due, on the monotonic clock; an unreadable frame is due immediately. */
function dueAtMsOf({ dueTimes }: Tier, { content }: StoredFrame): number {
  const clock = { wallMs: Date.now(), monotonicMs: performance.now() };
  if (content.kind === 'unreadable') return clock.monotonicMs;
  return dueTimes.dueAtMs(Math.max(...content.records.map(({ record }) => record.notBefore)), clock);
}

/**
 * Computes when the frames of one tier of the retry log are due, on the monotonic clock. Call `dueAtMs` in the order of
 * the log.
 */
type DueTimes = {
  dueAtMs(notBeforeMs: number, clock: { readonly wallMs: number; readonly monotonicMs: number }): number;
};

/**
 * `notBefore` is a due time by the wall clock as it was when the frame was written. No frame in a tier waits longer
 * than `delayMaxMs`. If a frame seems to wait longer, it was written before the wall clock was set back, and is due at
 * most `delayMaxMs` after its first read. Later frames keep their distance from this frame; otherwise each of them
 * would wait that long after the previous one.
 */
export function createDueTimes(delayMaxMs: number): DueTimes {
  let first: { readonly notBeforeMs: number; readonly dueAtMs: number } | undefined;
  return {
    dueAtMs(notBeforeMs, { wallMs, monotonicMs }) {
      const waitMs = notBeforeMs - wallMs;
      if (waitMs <= delayMaxMs) {
        first = undefined;
        return monotonicMs + Math.max(0, waitMs);
      }
      const latestMs = monotonicMs + delayMaxMs;
      first ??= { notBeforeMs, dueAtMs: latestMs };
      const dueAtMs = first.dueAtMs + notBeforeMs - first.notBeforeMs;
      return Math.min(Math.max(dueAtMs, monotonicMs), latestMs);
    },
  };
}
