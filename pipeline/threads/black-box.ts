import type { FrameRange, FramesAtWork } from '../workers/worker/suspicion.ts';

/**
 * Shows, after a thread has died, whose turn it was, and on which frames of which log that actor was working. Both are
 * numbers in shared memory. They identify the actor that took the thread down by an endless loop or by exhausting its
 * memory, so that the thread's other actors are not blamed.
 */
export type BlackBox = {
  /** Shared with a thread, not copied. */
  readonly memory: SharedArrayBuffer;
  /** Records which actor has its turn (0: no actor) and the frames on which it works, if any. */
  turn(mark: number, frames?: FramesAtWork): void;
  readonly lastTurn: number;
  /** Undefined if the last turn did not work on particular frames. */
  readonly lastFrames: FramesAtWork | undefined;
};

/**
 * Index of the first of three cells for each log: first sequence, last sequence (0: no frames), and line, counted from
 * 1 (0: no line).
 */
const cellsOf = { log: 1, retry: 4 } as const;
const cellsMax = 7;

export function createBlackBox(memory = new SharedArrayBuffer(cellsMax * Float64Array.BYTES_PER_ELEMENT)): BlackBox {
  // The mark is in the first cell.
  const cells = new Float64Array(memory);
  const note = (at: number, range: FrameRange | undefined): void => {
    cells[at] = range?.from ?? 0;
    cells[at + 1] = range?.to ?? 0;
    cells[at + 2] = range?.line === undefined ? 0 : range.line + 1;
  };
  const read = (at: number): FrameRange | undefined => {
    const [from = 0, to = 0, line = 0] = cells.subarray(at);
    if (to === 0) return undefined;
    return line === 0 ? { from, to } : { from, to, line: line - 1 };
  };
  return {
    memory,
    turn: (mark, frames) => {
      cells[0] = mark;
      note(cellsOf.log, frames?.log);
      note(cellsOf.retry, frames?.retry);
    },
    get lastTurn() {
      return cells[0] ?? 0;
    },
    get lastFrames() {
      const [log, retry] = [read(cellsOf.log), read(cellsOf.retry)];
      return log === undefined && retry === undefined ? undefined : { log, retry };
    },
  };
}
