/**
 * Says, when a thread has died, whose turn it was: a number in memory both sides share. Somebody who takes the thread
 * down with an endless loop or all of its memory is found this way, and not those who ran beside it.
 */
export type BlackBox = {
  /** Given to a thread; shared, not copied. */
  readonly memory: SharedArrayBuffer;
  /** Notes whose turn it is: 0 nobody's. */
  turn(mark: number): void;
  readonly lastTurn: number;
};

export function createBlackBox(memory = new SharedArrayBuffer(4)): BlackBox {
  const cells = new Int32Array(memory);
  return {
    memory,
    turn: (mark) => {
      cells[0] = mark;
    },
    get lastTurn() {
      return cells[0] ?? 0;
    },
  };
}
