/** A frame some of whose events are not settled yet: of the account's log, or of the retry log. */
export type HeldFrame = {
  /** Events not settled yet. */
  left: number;
  /** Whether an event of it was sent or counted: it is then finished here rather than handed back. */
  isStarted: boolean;
  readonly bytes: number;
  /** Everything in it is settled and counted. */
  finished(): void;
  /** Nothing of it was done: somebody may have it again at once. */
  abandoned(): void;
  /** Still at work on it. */
  touch(): void;
};

/** The frames in the dispatcher's hands; keeps the server from giving them to somebody else meanwhile. */
export class HeldFrames {
  readonly #frames = new Set<HeldFrame>();
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
    return this.#frames.size;
  }

  add(frame: HeldFrame): void {
    this.#frames.add(frame);
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
    const abandoned = new Set([...this.#frames].filter((frame) => !frame.isStarted));
    for (const frame of abandoned) if (this.#drop(frame)) frame.abandoned();
    return abandoned;
  }

  /** Hands back everything. */
  abandonAll(): void {
    for (const frame of this.#frames) if (this.#drop(frame)) frame.abandoned();
  }

  #drop(frame: HeldFrame): boolean {
    if (!this.#frames.delete(frame)) return false;
    this.#bytes -= frame.bytes;
    if (this.#frames.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    return true;
  }
}
