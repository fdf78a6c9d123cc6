/** What one dispatcher may hold where there are few. */
export type FrameLimits = { readonly bytesMax: number; readonly framesAheadMax: number };

/** What one dispatcher may hold. */
export type FrameShare = {
  /** With so many bytes of frames it takes no more. */
  readonly bytesMax: number;
  /** Frames it may have fetched and not begun: as many as half of that, and one at least. */
  readonly framesAheadMax: number;
  /** A frame of so many bytes was taken: those that follow are thought to be like the last. */
  note(bytes: number): void;
  leave(): void;
};

/** What a frame is thought to have before one was seen. */
const bytesAtFirst = 64 * 1024;
/** What the newest frame weighs against all before it, where it is smaller. */
const newestShare = 0.2;

/**
 * How much of frames each dispatcher of a thread may hold: the same part of what all may, so that a thread with a thousand
 * of them does not fetch a thousand times what one may. One that has nothing to do keeps its part: what comes next comes to
 * all destinations of an account at once.
 */
export class FrameShares {
  readonly #bytesMax: number;
  #members = 0;

  /** `bytesMax`: of all dispatchers of the thread together, about. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  join({ bytesMax, framesAheadMax }: FrameLimits): FrameShare {
    this.#members += 1;
    let hasLeft = false;
    let frameBytes = bytesAtFirst;
    const share = (): number => Math.min(bytesMax, Math.floor(this.#bytesMax / Math.max(1, this.#members)));
    return {
      get bytesMax() {
        return share();
      },
      get framesAheadMax() {
        return Math.max(1, Math.min(framesAheadMax, Math.floor(share() / 2 / frameBytes)));
      },
      note(bytes) {
        // One that is larger says at once that more of its kind may come.
        frameBytes = Math.max(1, bytes > frameBytes ? bytes : frameBytes + (bytes - frameBytes) * newestShare);
      },
      leave: () => {
        if (!hasLeft) this.#members -= 1;
        hasLeft = true;
      },
    };
  }
}
