import { setBit } from './line-bits.ts';

/** A frame some of whose events are not settled yet: of the account's log, or of the retry log. */
export type HeldFrame = {
  /** Where it is in the account's log, and when it was stored there, in ms since the epoch; 0 for one of the retry log. */
  readonly seq: number;
  readonly storedAtMs: number;
  /** Events not settled yet. */
  left: number;
  /** Which of its lines are settled, a bit each; undefined as long as none is. */
  settled: Uint8Array | undefined;
  /** Whether an event of it was sent or counted: it is then finished here rather than handed back. */
  isStarted: boolean;
  readonly bytes: number;
  /** Its place among the frames held; -1 when it is not, or no longer. */
  slot: number;
  /** Everything in it is settled and counted. */
  finished(): void;
  /** Nothing of it was done: it is wanted again. */
  abandoned(): void;
  /** Still at work on it. */
  touch(): void;
};

/** The frames in the dispatcher's hands; keeps the server from giving them out again meanwhile. */
export class HeldFrames {
  /** Not a Set: one with constant coming and going leaves copies in the old heap that keep what was in them. */
  readonly #frames: HeldFrame[] = [];
  readonly #touchEveryMs: number;
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;

  constructor(touchEveryMs: number) {
    this.#touchEveryMs = touchEveryMs;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#frames.length;
  }

  /** Frames of the account's log a part of which is settled. */
  get begun(): readonly HeldFrame[] {
    return this.#frames.filter(({ seq, settled }) => seq > 0 && settled !== undefined);
  }

  add(frame: HeldFrame): void {
    frame.slot = this.#frames.push(frame) - 1;
    this.#bytes += frame.bytes;
    this.#timer ??= setInterval(() => {
      for (const held of this.#frames) held.touch();
    }, this.#touchEveryMs);
  }

  /** One event of the frame is settled: the one of that line, or none when all were read. */
  settle(frame: HeldFrame, line?: number): void {
    frame.left -= 1;
    if (frame.left > 0) {
      if (line !== undefined) frame.settled = setBit(frame.settled, line);
      return;
    }
    if (this.#drop(frame)) frame.finished();
  }

  /**
   * Hands back frames nothing was done with, and says which. Those of the account's log that are older than one that was
   * begun stay: what that one has of a visitor may go only behind what they have.
   */
  abandonUnstarted(): ReadonlySet<HeldFrame> {
    const newestBegun = Math.max(0, ...this.#frames.map(({ seq, isStarted }) => (isStarted ? seq : 0)));
    const abandoned = new Set(
      this.#frames.filter(({ seq, isStarted }) => !isStarted && (seq === 0 || seq > newestBegun)),
    );
    for (const frame of abandoned) this.abandon(frame);
    return abandoned;
  }

  /** Hands back one frame. */
  abandon(frame: HeldFrame): void {
    if (this.#drop(frame)) frame.abandoned();
  }

  /** Hands back everything. */
  abandonAll(): void {
    for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) {
      this.abandon(frame);
    }
  }

  #drop(frame: HeldFrame): boolean {
    const last = this.#frames.at(-1);
    if (frame.slot < 0 || last === undefined) return false;
    this.#frames[frame.slot] = last;
    last.slot = frame.slot;
    this.#frames.pop();
    frame.slot = -1;
    this.#bytes -= frame.bytes;
    if (this.#frames.length === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    return true;
  }
}
