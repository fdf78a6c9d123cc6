import { expect, test } from 'vitest';
import { FramesAtWork } from './frames-at-work.ts';

test('frames at work: a frame is finished once all of it is where it belongs, and not while it is being read', () => {
  const [first, second] = [{ seq: 1 }, { seq: 2 }];
  const atWork = new FramesAtWork<{ readonly seq: number }>();
  atWork.open(first);
  expect(atWork.takeFinished()).toEqual([]);
  atWork.add(first);
  atWork.done(first);
  expect(atWork.takeFinished()).toEqual([]);
  atWork.add(first);
  atWork.close(first);
  expect(atWork.takeFinished()).toEqual([]);
  atWork.open(second);
  atWork.close(second);
  expect(atWork.takeFinished()).toEqual([second]);
  atWork.done(first);
  expect(atWork.takeFinished()).toEqual([first]);
  expect(atWork.takeFinished()).toEqual([]);
});

test('frames at work: one that has the sequence of another one, after the log was cut, is counted by itself', () => {
  const [before, after] = [{ seq: 7 }, { seq: 7 }];
  const atWork = new FramesAtWork<{ readonly seq: number }>();
  for (const frame of [before, after]) {
    atWork.open(frame);
    atWork.add(frame);
    atWork.close(frame);
  }
  atWork.done(before);
  expect(atWork.takeFinished()).toEqual([before]);
});
