import type { LogMessage } from '../../../../shared/nats/messages/log-message.ts';
import type { FrameRange, FramesAtWork, SuspectLog } from '../../worker/suspicion.ts';
import type { Follower } from '../waiting/waiting-visitors.ts';
import type { HeldRetries } from './retry-reader.ts';
import type { LineBits } from '../events/line-bits.ts';

/**
 * Where a frame comes from, and where it is handed back: the account's log, a tier of the retry log, or a parked event
 * in the retry log.
 */
export type FrameSource =
  | { readonly kind: 'log'; readonly message: LogMessage }
  | { readonly kind: 'retry'; readonly frame: HeldRetries }
  | { readonly kind: 'parked'; readonly follower: Follower };

/** A frame with unsettled events. */
export type FrameInFlight = {
  readonly source: FrameSource;
  readonly bytes: number;
  /** Unsettled events. */
  left: number;
  /** The settled lines of a frame of the account's log, one bit per line; undefined while no line is settled. */
  settled: LineBits;
  /**
   * When the oldest event read from the frame was accepted, in ms since the epoch; before an event is read, when the
   * frame was stored.
   */
  sinceMs: number;
  /** Whether an event of the frame was sent or counted: the frame is then finished here rather than handed back. */
  isStarted: boolean;
  /** Its index among the frames in flight; -1 if it is not in flight. */
  slot: number;
};

/** The sequence of a frame in its account's log; 0 for a frame of the retry log. */
export function seqOf({ source }: FrameInFlight): number {
  return source.kind === 'log' ? source.message.seq : 0;
}

/** The log that contains a frame, and the frame's place there. A parked event is one line of a frame. */
function locate({ source }: FrameInFlight): { readonly log: SuspectLog; readonly range: FrameRange } {
  switch (source.kind) {
    case 'log':
      return { log: 'log', range: rangeAt(source.message.seq) };
    case 'retry':
      return { log: 'retry', range: rangeAt(source.frame.seq) };
    case 'parked': {
      const { seq = 0, index } = source.follower.place ?? {};
      return { log: 'retry', range: { ...rangeAt(seq), line: index } };
    }
  }
}

const rangeAt = (seq: number): FrameRange => ({ from: seq, to: seq });

type Span = { frames: number; from: number; to: number };

/** The frames that a dispatcher works on; meanwhile the server does not deliver them again. */
export class FramesInFlight {
  /** An array, because a Set that changes constantly leaves copies in the old heap, which keep its entries alive. */
  readonly #frames: FrameInFlight[] = [];
  readonly #touchEveryMs: number;
  /**
   * For each log, the number of frames in flight, and the range of all sequences in flight since the number was last 0.
   */
  readonly #spans: Readonly<Record<SuspectLog, Span>> = {
    log: { frames: 0, from: 0, to: 0 },
    retry: { frames: 0, from: 0, to: 0 },
  };
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;

  constructor(touchEveryMs: number) {
    this.#touchEveryMs = touchEveryMs;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * When the oldest event in flight of the account's log was accepted, in ms since the epoch; undefined if none is in
   * flight.
   */
  get oldestSinceMs(): number | undefined {
    let oldest = Number.POSITIVE_INFINITY;
    for (const { source, sinceMs } of this.#frames) if (source.kind === 'log') oldest = Math.min(oldest, sinceMs);
    return Number.isFinite(oldest) ? oldest : undefined;
  }

  get all(): readonly FrameInFlight[] {
    return this.#frames;
  }

  /** Whether frames of a log are in flight. */
  has(log: SuspectLog): boolean {
    return this.#spans[log].frames > 0;
  }

  /**
   * The frames that would be suspected if the thread died now: the only frame in flight, or a range of sequences that
   * contains all of them. A range is enough, since only a frame that was alone is ever quarantined. Undefined if no
   * frame is in flight.
   */
  get atWork(): FramesAtWork | undefined {
    const [only, another] = this.#frames;
    if (only === undefined) return undefined;
    if (another === undefined) {
      const { log, range } = locate(only);
      return { [log]: range };
    }
    return { log: this.#rangeOf('log'), retry: this.#rangeOf('retry') };
  }

  #rangeOf(log: SuspectLog): FrameRange | undefined {
    const { frames, from, to } = this.#spans[log];
    return frames === 0 ? undefined : { from, to };
  }

  #widen(frame: FrameInFlight): void {
    const { log, range } = locate(frame);
    const span = this.#spans[log];
    span.from = span.frames === 0 ? range.from : Math.min(span.from, range.from);
    span.to = span.frames === 0 ? range.to : Math.max(span.to, range.to);
    span.frames += 1;
  }

  add(source: FrameSource, events: number, bytes: number, settled?: LineBits): FrameInFlight {
    const sinceMs = source.kind === 'log' ? source.message.storedAtMs : Number.POSITIVE_INFINITY;
    const frame = { source, bytes, left: events, settled, sinceMs, isStarted: false, slot: this.#frames.length };
    this.#frames.push(frame);
    this.#bytes += bytes;
    this.#widen(frame);
    this.#timer ??= setInterval(() => {
      for (const { source } of this.#frames) if (source.kind === 'log') source.message.working();
    }, this.#touchEveryMs);
    return frame;
  }

  /** Removes a frame. Returns whether it was still in flight. */
  remove(frame: FrameInFlight): boolean {
    const last = this.#frames.at(-1);
    if (frame.slot < 0 || last === undefined) return false;
    this.#frames[frame.slot] = last;
    last.slot = frame.slot;
    this.#frames.pop();
    frame.slot = -1;
    this.#bytes -= frame.bytes;
    this.#spans[locate(frame).log].frames -= 1;
    if (this.#frames.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    return true;
  }

  /**
   * Frames of which no event was sent or counted. Frames of the account's log that are older than a started frame are
   * excepted: a visitor's events in the older frame must be sent before those in the started one.
   */
  get unstarted(): ReadonlySet<FrameInFlight> {
    let newestBegun = 0;
    for (const frame of this.#frames) if (frame.isStarted) newestBegun = Math.max(newestBegun, seqOf(frame));
    const isOlder = (frame: FrameInFlight): boolean => frame.source.kind === 'log' && seqOf(frame) <= newestBegun;
    return new Set(this.#frames.filter((frame) => !frame.isStarted && !isOlder(frame)));
  }
}
