/** Limits of one dispatcher on a thread with few dispatchers. */
export type FrameLimits = { readonly bytesMax: number; readonly framesAheadMax: number };

/** The frames that one dispatcher may hold. */
export type FrameQuota = {
  /** With this many bytes of frames the dispatcher takes no more. */
  readonly bytesMax: number;
  /** Frames that it may have fetched and not started: about half of `bytesMax` at most, and one at least. */
  readonly framesAheadMax: number;
  /** A frame of this size was taken; the next ones are assumed to be as large. */
  note(bytes: number): void;
  leave(): void;
};

/** Assumed size of a frame before the first. */
const bytesAtFirst = 64 * 1024;
/** Weight of the newest frame in the assumed size, if it is smaller than that. */
const newestWeight = 0.2;

/**
 * The frames that each dispatcher of a thread may hold in memory: an equal part of the thread's limit, however many
 * dispatchers it has. An idle dispatcher keeps its part, since new events reach all destinations of an account at the
 * same time.
 */
export class FrameQuotas {
  readonly #bytesMax: number;
  #members = 0;

  /** `bytesMax`: approximate limit for all dispatchers of the thread together. */
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
