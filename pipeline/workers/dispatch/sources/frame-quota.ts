/** What one dispatcher may hold where there are few. */
export type FrameLimits = { readonly bytesMax: number; readonly framesAheadMax: number };

/** What one dispatcher may hold. */
export type FrameQuota = {
  /** With so many bytes of frames it takes no more. */
  readonly bytesMax: number;
  /** Frames it may have fetched and not begun: at most half of `bytesMax`, and one at least. */
  readonly framesAheadMax: number;
  /** A frame of so many bytes was taken: the next ones are assumed to be like the last. */
  note(bytes: number): void;
  leave(): void;
};

/** The size of a frame that is assumed before one was seen. */
const bytesAtFirst = 64 * 1024;
/** What the newest frame weighs against all before it, where it is smaller. */
const newestWeight = 0.2;

/**
 * The frames that each dispatcher of a thread may hold in memory: an equal part of what all may, so that a thread with a
 * thousand of them does not fetch a thousand times as much as one. An idle dispatcher keeps its part: new events come to
 * all destinations of an account at the same time.
 */
export class FrameQuotas {
  readonly #bytesMax: number;
  #members = 0;

  /** `bytesMax`: of all dispatchers of the thread together, about. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  join({ bytesMax, framesAheadMax }: FrameLimits): FrameQuota {
    this.#members += 1;
    let hasLeft = false;
    let frameBytes = bytesAtFirst;
    const quota = (): number => Math.min(bytesMax, Math.floor(this.#bytesMax / Math.max(1, this.#members)));
    return {
      get bytesMax() {
        return quota();
      },
      get framesAheadMax() {
        return Math.max(1, Math.min(framesAheadMax, Math.floor(quota() / 2 / frameBytes)));
      },
      note(bytes) {
        // After one large frame more of them are likely.
        frameBytes = Math.max(1, bytes > frameBytes ? bytes : frameBytes + (bytes - frameBytes) * newestWeight);
      },
      leave: () => {
        if (!hasLeft) this.#members -= 1;
        hasLeft = true;
      },
    };
  }
}
