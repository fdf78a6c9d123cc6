import type { SampledLine } from './sample-frame.ts';

/** The lines of one frame that were chosen for the view; `bytes` is the size of the whole frame. */
type Chosen = { readonly lines: readonly SampledLine[]; readonly bytes: number; readonly notedAtMs: number };

/**
 * Lines that were chosen for the view and are not yet in it. Bounded by bytes: a line keeps its whole frame in memory.
 */
export class ChosenFrames {
  readonly #bytesMax: number;
  #waiting: Chosen[] = [];
  #writing: readonly Chosen[] = [];
  #bytes = 0;
  #linesWaiting = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes of the frames that wait or are being written. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of lines that wait for the next statement. */
  get linesWaiting(): number {
    return this.#linesWaiting;
  }

  /** Age of the oldest frame, in ms; 0 without frames. */
  get ageMs(): number {
    const oldest = this.#writing[0] ?? this.#waiting[0];
    return oldest === undefined ? 0 : performance.now() - oldest.notedAtMs;
  }

  /** Adds a frame. Returns false, and keeps no line, if there is no room; a single frame always has room. */
  add(lines: readonly SampledLine[], bytes: number): boolean {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax) return false;
    this.#waiting.push({ lines, bytes, notedAtMs: performance.now() });
    this.#linesWaiting += lines.length;
    this.#bytes += bytes;
    return true;
  }

  /** Returns all waiting lines, which count as being written until `settle`. */
  take(): readonly SampledLine[] {
    this.#writing = this.#waiting;
    this.#waiting = [];
    this.#linesWaiting = 0;
    return this.#writing.flatMap(({ lines }) => lines);
  }

  /** Frees the room of the taken lines. Call when they are written or left out. */
  settle(): void {
    for (const { bytes } of this.#writing) this.#bytes -= bytes;
    this.#writing = [];
  }
}
