import type { FrameRange } from '../workers/worker/suspicion.ts';

/**
 * Says, when a thread has died, whose turn it was and what frames were being worked on: numbers in memory both sides share.
 * Somebody who takes the thread down with an endless loop or all of its memory is found this way, and not those who ran
 * beside it.
 */
export type BlackBox = {
  /** Given to a thread; shared, not copied. */
  readonly memory: SharedArrayBuffer;
  /** Notes whose turn it is: 0 nobody's; and the frames it is about, where it is about some. */
  turn(mark: number, frames?: FrameRange): void;
  readonly lastTurn: number;
  /** Undefined where the last turn was about no frames in particular. */
  readonly lastFrames: FrameRange | undefined;
};

const cellsMax = 3;

export function createBlackBox(memory = new SharedArrayBuffer(cellsMax * Float64Array.BYTES_PER_ELEMENT)): BlackBox {
  // The mark, and the sequences of the first and the last frame: 0 for none.
  const cells = new Float64Array(memory);
  return {
    memory,
    turn: (mark, frames) => {
      cells[0] = mark;
      cells[1] = frames?.from ?? 0;
      cells[2] = frames?.to ?? 0;
    },
    get lastTurn() {
      return cells[0] ?? 0;
    },
    get lastFrames() {
      const [, from = 0, to = 0] = cells;
      return to === 0 ? undefined : { from, to };
    },
  };
}
