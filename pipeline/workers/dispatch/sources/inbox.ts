import type { LogMessage } from '../../../../shared/nats/messages/log-message.ts';
import type { PullConsumer } from '../../../../shared/nats/consume/pull-consumer.ts';
import type { SkipReason } from '../../../../shared/contracts/missed-ranges.ts';
import type { HealthKeeper, Skipped } from '../health/health-keeper.ts';
import type { FramesAtWork } from '../../worker/suspicion.ts';
import type { ReleasedEvent, VisitorOrder } from '../waiting/visitor-order.ts';
import { attemptedBefore, notAttempted } from '../events/attempted.ts';
import type { LoadedRecord, RetryFrame, RetryReader } from './retry-reader.ts';
import { openedBytes } from '../../../../shared/contracts/events/compressed-frame.ts';
import { countResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import { DispatchItem } from './dispatch-item.ts';
import { FrameLine } from '../events/read-event.ts';
import type { ReadEvent } from '../events/read-event.ts';
import type { DispatchPlace, SettledPart } from './dispatch-place.ts';
import { seqOf } from './frames-in-flight.ts';
import type { FrameInFlight, FramesInFlight, FrameSource } from './frames-in-flight.ts';
import { countBits, hasBit, setBit } from '../events/line-bits.ts';
import type { LineBits } from '../events/line-bits.ts';
import type { FrameOpener, OpenedFrame } from '../events/opened-frames.ts';

export type InboxOptions = {
  readonly pullConsumer: PullConsumer;
  readonly retries: RetryReader;
  /** Undefined if the destination has order `none`. */
  readonly order: VisitorOrder | undefined;
  /** Stores a frame's results before the frame is acknowledged. */
  readonly health: HealthKeeper;
  /** Settled lines of frames that are not delivered yet, or were handed back, by the sequence of the frame. */
  readonly settledBefore: Map<number, SettledPart>;
  readonly frames: FramesInFlight;
  readonly opener: FrameOpener;
  readonly counts: Record<
    'frames' | 'redelivered_frames' | 'frame_events' | 'repeated_events' | 'heads_parsed' | 'missed_events',
    number
  >;
};

/**
 * A line of a frame that contains no event readable by this build; or a whole frame that cannot be divided into lines.
 */
export type UnreadableLine = {
  readonly frame: FrameInFlight;
  readonly index: number;
  readonly line: string | Uint8Array;
};

/** A record of the retry log whose event cannot be read, or is no longer in EVENTS. */
export type UntriedRecord = {
  readonly frame: FrameInFlight;
  readonly index: number;
  readonly record: LoadedRecord['record'];
  readonly loaded: Exclude<LoadedRecord['loaded'], { readonly kind: 'event' }>;
};

/**
 * A frame that is not read to its end. The lines before `next` are read; the frame is divided into lines at the first
 * read.
 */
type UnopenedFrame = {
  readonly frame: FrameInFlight;
  readonly message: LogMessage;
  /** Lines that were settled before the frame was taken. */
  readonly settledBefore: LineBits;
  opened: OpenedFrame | undefined;
  next: number;
};

/**
 * The frames of a dispatcher, from the account's log and the retry log, between delivery and acknowledgement. A frame
 * is opened when its events are wanted, is in flight until each of its events is settled, and is acknowledged once
 * health is stored. A frame that is handed back is delivered again.
 */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #frames: FramesInFlight;
  readonly #framesOpened = { frames: 0, events: 0 };
  /**
   * Frames in flight that are not read to their ends. Their events are not read in advance, since garbage collections
   * would copy parsed events that wait.
   */
  #unopened: UnopenedFrame[] = [];

  constructor(options: InboxOptions) {
    this.#options = options;
    this.#frames = options.frames;
  }

  /** Number of frames that are not read to their ends. */
  get unopened(): number {
    return this.#unopened.length;
  }

  /** The frames in flight, for the record of a turn. */
  get atWork(): FramesAtWork | undefined {
    return this.#frames.atWork;
  }

  /** Whether frames of the account's log are in flight. */
  get hasLogFrames(): boolean {
    return this.#frames.has('log');
  }

  get isEmpty(): boolean {
    return this.#frames.all.length === 0;
  }

  /** Whether a frame is neither settled nor handed back. */
  isInFlight({ slot }: FrameInFlight): boolean {
    return slot >= 0;
  }

  /** How long ago the oldest fresh event in flight was accepted, in ms; 0 if none is in flight. */
  ageMs(nowMs: number): number {
    return Math.max(0, nowMs - (this.#frames.oldestSinceMs ?? nowMs));
  }

  /** Uncompressed bytes of the frames in flight. */
  get bytes(): number {
    return this.#frames.bytes;
  }

  /** Takes a frame of the account's log; its events are read by `next`. */
  take(message: LogMessage): void {
    this.#count(message);
    const settled = this.#settledOf(message);
    // Counted as one event more than it has, so that it is not settled before all of its events are read.
    const frame = this.#frames.add({ kind: 'log', message }, 1, openedBytes(message.data), settled);
    const settledBefore = settled === undefined ? undefined : new Uint8Array(settled);
    this.#unopened.push({ frame, message, settledBefore, opened: undefined, next: 0 });
  }

  /** Finishes a frame of the account's log without opening it. This is not stored at once: see `HealthKeeper.passed`. */
  pass(message: LogMessage): void {
    this.#count(message);
    this.#options.health.passed();
    this.#acknowledge({ kind: 'log', message });
  }

  /** Skips a frame of the account's log. */
  skipFrame(message: LogMessage, reason: SkipReason): void {
    this.#count(message);
    const lines = countResolved(message.data);
    this.#skipped(reason, message.storedAtMs, lines - countBits(this.#settledOf(message), lines));
    this.#finish({ kind: 'log', message });
  }

  /** Skips an event that was read from the account's log. */
  skipEvent(item: DispatchItem, reason: SkipReason): void {
    const { source } = item.frame;
    if (source.kind === 'log') this.#skipped(reason, source.message.storedAtMs, 1);
    this.settle(item);
  }

  /** Skips the unread part of frames up to a sequence. */
  skipUnread(upToSeq: number, reason: SkipReason): void {
    const old = this.#unopened.filter(({ frame }) => seqOf(frame) <= upToSeq);
    if (old.length === 0) return;
    this.#unopened = this.#unopened.filter(({ frame }) => seqOf(frame) > upToSeq);
    for (const unopened of old) {
      const { frame, settledBefore } = unopened;
      const opened = (unopened.opened ??= this.#open(unopened));
      for (; unopened.next < opened.length; unopened.next += 1) {
        if (hasBit(settledBefore, unopened.next)) continue;
        if (frame.source.kind === 'log') this.#skipped(reason, frame.source.message.storedAtMs, 1);
        this.#settle(frame, unopened.next);
      }
      this.#settle(frame, undefined);
    }
  }

  /**
   * Records frames that were skipped without being read. The number of their events is estimated from the frames opened
   * before.
   */
  skippedFrames(frames: number, reason: SkipReason, { fromMs, toMs }: Omit<Skipped, 'events'>): void {
    const { counts, health } = this.#options;
    const opened = this.#framesOpened;
    const events = Math.round(frames * (opened.frames === 0 ? 1 : opened.events / opened.frames));
    if (events === 0) return;
    counts.missed_events += events;
    health.skipped(reason, { fromMs, ...(toMs === undefined ? {} : { toMs }), events });
  }

  /** Hands a frame of the account's log back. */
  refuse(message: LogMessage): void {
    this.#count(message);
    message.release();
  }

  /** Takes a frame of the retry log. Returns its events, and the records whose event cannot be tried. */
  takeRetries(frame: RetryFrame, records: readonly LoadedRecord[]): readonly (DispatchItem | UntriedRecord)[] {
    const inFlight = this.#frames.add({ kind: 'retry', frame }, records.length + 1, frame.eventBytes);
    const taken = records.map(({ index, record, loaded }) => {
      if (loaded.kind !== 'event') {
        inFlight.isStarted = true;
        return { frame: inFlight, index, record, loaded };
      }
      const recorded = { origin: record.origin, isCopied: record.line !== undefined };
      return new DispatchItem(inFlight, loaded.event, attemptedBefore(record), index, recorded);
    });
    this.#settle(inFlight, undefined);
    return taken;
  }

  /** Takes a parked event whose turn has come. */
  takeReleased({ follower }: ReleasedEvent, event: ReadEvent): DispatchItem {
    const frame = this.#frames.add({ kind: 'parked', follower }, 1, event.bytes);
    return new DispatchItem(frame, event, follower.attempted, undefined, follower);
  }

  /** The next event of the taken frames of the account's log; each must be settled. */
  next(): DispatchItem | UnreadableLine | undefined {
    for (;;) {
      const [first] = this.#unopened;
      if (first === undefined) return undefined;
      const opened = (first.opened ??= this.#open(first));
      const { frame, message, next: index } = first;
      first.next += 1;
      if (first.next >= opened.length) {
        this.#unopened.shift();
        this.#settle(frame, undefined);
      }
      if (index >= opened.length || hasBit(first.settledBefore, index)) continue;
      const event = opened.eventAt(index);
      if (event === undefined) {
        frame.isStarted = true;
        return { frame, index, line: opened.textAt(index) ?? message.data };
      }
      if (!(event.rest instanceof FrameLine)) this.#options.counts.heads_parsed += 1;
      frame.sinceMs = Math.min(frame.sinceMs, event.head.receivedAtMs);
      return new DispatchItem(frame, event, notAttempted, index);
    }
  }

  /** Settles an event. The position stores this for the next dispatcher. */
  settle({ frame, index }: Pick<DispatchItem, 'frame' | 'index'>): void {
    this.#options.health.moved();
    this.#settle(frame, index);
  }

  /** Settles an event that is not sent. This is not stored at once: see `HealthKeeper.passed`. */
  skip({ frame, index }: DispatchItem): void {
    this.#options.health.passed();
    this.#settle(frame, index);
  }

  /** Hands back a frame that is not settled. */
  handBack(frame: FrameInFlight): void {
    if (!this.#frames.remove(frame)) return;
    const { source, settled: lines } = frame;
    switch (source.kind) {
      case 'log': {
        const { seq, storedAtMs } = source.message;
        if (lines !== undefined) this.#options.settledBefore.set(seq, { seq, storedAtMs, lines });
        source.message.release();
        return;
      }
      case 'retry':
        this.#options.retries.abandoned(source.frame);
        return;
      case 'parked':
        this.#options.order?.giveBack(source.follower);
    }
  }

  /** Hands back the frames of which no event was sent or counted, and returns them. */
  handBackUnstarted(): ReadonlySet<FrameInFlight> {
    const unstarted = this.#frames.unstarted;
    for (const frame of unstarted) this.handBack(frame);
    if (unstarted.size > 0) this.#unopened = this.#unopened.filter(({ frame }) => !unstarted.has(frame));
    return unstarted;
  }

  /** Reads no more of the account's log: the rest is left to the next dispatcher. */
  leaveUnopened(): void {
    this.#unopened = [];
  }

  handBackAll(): void {
    for (let frame = this.#frames.all.at(-1); frame !== undefined; frame = this.#frames.all.at(-1)) {
      this.handBack(frame);
    }
  }

  #count({ timesHandedOut, seq }: LogMessage): void {
    const { counts, pullConsumer } = this.#options;
    counts.frames += 1;
    if (timesHandedOut > 1 || seq <= pullConsumer.handedOutSeq) counts.redelivered_frames += 1;
  }

  #open({ frame, message, settledBefore }: UnopenedFrame): OpenedFrame {
    const { counts, pullConsumer, opener } = this.#options;
    const opened = opener.open(message);
    const unsettled = opened.length - countBits(settledBefore, opened.length);
    counts.frame_events += opened.length;
    this.#framesOpened.frames += 1;
    this.#framesOpened.events += opened.length;
    if (seqOf(frame) <= pullConsumer.handedOutSeq) counts.repeated_events += unsettled;
    frame.left += unsettled;
    return opened;
  }

  #skipped(reason: SkipReason, fromMs: number, events: number): void {
    if (events === 0) return;
    this.#options.counts.missed_events += events;
    this.#options.health.skipped(reason, { fromMs, events });
  }

  /** The lines of a frame that were settled before it is taken. */
  #settledOf({ seq, storedAtMs }: LogMessage): LineBits {
    const { settledBefore } = this.#options;
    const part = settledBefore.get(seq);
    if (part === undefined) return undefined;
    settledBefore.delete(seq);
    return part.storedAtMs === storedAtMs ? part.lines : undefined;
  }

  /** Settles the event of a line. With `line` undefined: all lines of the frame are read. */
  #settle(frame: FrameInFlight, line: number | undefined): void {
    frame.left -= 1;
    if (frame.left > 0) {
      if (line !== undefined) frame.settled = setBit(frame.settled, line);
      return;
    }
    if (this.#frames.remove(frame)) this.#finish(frame.source);
  }

  #finish(source: FrameSource): void {
    const { health, order } = this.#options;
    // The message is finished first, so that the position stores this before the frame is acknowledged.
    if (source.kind === 'log') source.message.finish();
    if (source.kind === 'parked') order?.settled();
    const stored = health.stored();
    if (stored === undefined) this.#acknowledge(source);
    else void stored.then(() => this.#acknowledge(source));
  }

  #acknowledge(source: FrameSource): void {
    const { retries, order } = this.#options;
    switch (source.kind) {
      case 'log':
        source.message.ack();
        return;
      case 'retry':
        retries.finished(source.frame);
        return;
      case 'parked':
        order?.finished(source.follower);
    }
  }
}

/**
 * Which part of the account's log is settled, for the next dispatcher. `settledBefore`: see `InboxOptions`; frames that
 * are finished are removed from it.
 */
export function placeOf(
  { finished }: Pick<PullConsumer, 'finished'>,
  frames: FramesInFlight,
  settledBefore: InboxOptions['settledBefore'],
): DispatchPlace {
  const { upTo, above } = finished;
  for (const seq of settledBefore.keys()) if (seq <= upTo) settledBefore.delete(seq);
  const finishedAbove = new Set(above);
  const left = [...settledBefore.values()].filter(({ seq }) => !finishedAbove.has(seq));
  const parts = frames.all.flatMap(({ source, settled }) =>
    source.kind === 'log' && settled !== undefined
      ? [{ seq: source.message.seq, storedAtMs: source.message.storedAtMs, lines: settled }]
      : [],
  );
  return { finished, parts: [...left, ...parts] };
}
