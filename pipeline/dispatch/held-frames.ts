/** A frame some of whose events are not settled yet: of the account's log, or of the retry log. */
export type HeldFrame = {
  /** Events not settled yet. */
  left: number;
  /** Whether an event of it was sent or counted: it is then finished here rather than handed back. */
  isStarted: boolean;
  readonly bytes: number;
  /** Its place among the frames held; -1 when it is not, or no longer. */
  slot: number;
  /** Everything in it is settled and counted. */
  finished(): void;
  /** Nothing of it was done: somebody may have it again at once. */
  abandoned(): void;
  /** Still at work on it. */
  touch(): void;
};

/** The frames in the dispatcher's hands; keeps the server from giving them to somebody else meanwhile. */
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

  add(frame: HeldFrame): void {
    frame.slot = this.#frames.push(frame) - 1;
    this.#bytes += frame.bytes;
    this.#timer ??= setInterval(() => {
      for (const held of this.#frames) held.touch();
    }, this.#touchEveryMs);
  }

  /** One event of the frame is settled. */
  settle(frame: HeldFrame): void {
    frame.left -= 1;
    if (frame.left > 0 || !this.#drop(frame)) return;
    frame.finished();
  }

  /** Hands back frames nothing was done with, and says which. */
  abandonUnstarted(): ReadonlySet<HeldFrame> {
    const abandoned = new Set(this.#frames.filter((frame) => !frame.isStarted));
    for (const frame of abandoned) if (this.#drop(frame)) frame.abandoned();
    return abandoned;
  }

  /** Hands back everything. */
  abandonAll(): void {
    for (let frame = this.#frames.at(-1); frame !== undefined; frame = this.#frames.at(-1)) {
      if (this.#drop(frame)) frame.abandoned();
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
