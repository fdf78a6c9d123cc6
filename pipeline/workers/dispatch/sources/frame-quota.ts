/** Limits of one dispatcher on a thread with few dispatchers. */
export type FrameLimits = { readonly bytesMax: number; readonly framesAheadMax: number };

/** How many frames one dispatcher may hold. */
export type FrameQuota = {
  /** A dispatcher that holds this many bytes of frames takes no more frames. */
  readonly bytesMax: number;
  /** Number of frames that may be fetched but not started: at most about half of `bytesMax`, and at least one frame. */
  readonly framesAheadMax: number;
  /** Call when a frame of this size was taken: the next frames are assumed to be as large. */
  note(bytes: number): void;
  leave(): void;
};

/** Assumed size of a frame before the first frame is taken. */
const bytesAtFirst = 64 * 1024;
/** Weight of the newest frame in the assumed size, if the frame is smaller than assumed. */
const newestWeight = 0.2;

/**
 * Divides the frames that a thread may hold in memory among its dispatchers: each gets an equal part of the thread's
 * limit, however many dispatchers there are. An idle dispatcher keeps its part, since new events reach all destinations
 * of an account at the same time.
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
        // After a large frame, more large frames are likely.
        frameBytes = Math.max(1, bytes > frameBytes ? bytes : frameBytes + (bytes - frameBytes) * newestWeight);
      },
      leave: () => {
        if (!hasLeft) this.#members -= 1;
        hasLeft = true;
      },
    };
  }
}
