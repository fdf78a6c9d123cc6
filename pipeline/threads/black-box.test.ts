import { expect, test } from 'vitest';
import { createBlackBox } from './black-box.ts';

test('black box: the thread that shares the memory sees which actor worked last, and on which frames of which log', () => {
  const ours = createBlackBox();
  const theirs = createBlackBox(ours.memory);
  expect([ours.lastTurn, ours.lastFrames]).toEqual([0, undefined]);
  for (const frames of [
    { log: { from: 3, to: 18 } },
    { retry: { from: 7, to: 2 ** 52 } },
    { log: { from: 3, to: 3 }, retry: { from: 3, to: 3 } },
    { retry: { from: 9, to: 9, line: 0 } },
  ]) {
    theirs.turn(5, frames);
    expect([ours.lastTurn, ours.lastFrames]).toEqual([5, frames]);
  }
  theirs.turn(6);
  expect([ours.lastTurn, ours.lastFrames]).toEqual([6, undefined]);
});
