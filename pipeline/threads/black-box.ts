import type { FrameRange, FramesAtWork } from '../workers/worker/suspicion.ts';

/**
 * Says, when a thread has died, whose turn it was and what frames of which log were being worked on: numbers in memory both
 * sides share. Somebody who takes the thread down with an endless loop or all of its memory is found this way, and not
 * those who ran beside it.
 */
export type BlackBox = {
  /** Given to a thread; shared, not copied. */
  readonly memory: SharedArrayBuffer;
  /** Notes whose turn it is: 0 nobody's; and the frames it is about, where it is about some. */
  turn(mark: number, frames?: FramesAtWork): void;
  readonly lastTurn: number;
  /** Undefined where the last turn was about no frames in particular. */
  readonly lastFrames: FramesAtWork | undefined;
};

/** Where the frames of each log stand: the sequences of the first and the last, 0 for none, and the line, from 1 on. */
const cellsOf = { log: 1, retry: 4 } as const;
const cellsMax = 7;

export function createBlackBox(memory = new SharedArrayBuffer(cellsMax * Float64Array.BYTES_PER_ELEMENT)): BlackBox {
  // The mark stands first.
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
