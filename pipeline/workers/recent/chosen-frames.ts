import type { SampledLine } from './sample-frame.ts';

/** What of a frame goes into the view. */
type Chosen = { readonly lines: readonly SampledLine[]; readonly bytes: number; readonly notedAtMs: number };

/** Lines that were chosen for the view and are not in it yet. They are bounded by bytes: a line keeps all of its frame in memory. */
export class ChosenFrames {
  readonly #bytesMax: number;
  #waiting: Chosen[] = [];
  #writing: readonly Chosen[] = [];
  #bytes = 0;
  #linesWaiting = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Of frames that wait and of those being written. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Lines that are to be written with the next statement. */
  get linesWaiting(): number {
    return this.#linesWaiting;
  }

  /** Age of the oldest, in ms; 0 where there is none. */
  get ageMs(): number {
    const oldest = this.#writing[0] ?? this.#waiting[0];
    return oldest === undefined ? 0 : performance.now() - oldest.notedAtMs;
  }

  /** Returns false, and keeps none, where there is no room for the frame of the lines. One frame has room always. */
  add(lines: readonly SampledLine[], bytes: number): boolean {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#bytesMax) return false;
    this.#waiting.push({ lines, bytes, notedAtMs: performance.now() });
    this.#linesWaiting += lines.length;
    this.#bytes += bytes;
    return true;
  }

  /** Begins to write all that waits. */
  take(): readonly SampledLine[] {
    this.#writing = this.#waiting;
    this.#waiting = [];
    this.#linesWaiting = 0;
    return this.#writing.flatMap(({ lines }) => lines);
  }

  /** What was taken is written, or left out. */
  settle(): void {
    for (const { bytes } of this.#writing) this.#bytes -= bytes;
    this.#writing = [];
  }
}
