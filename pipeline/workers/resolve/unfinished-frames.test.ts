import { expect, test } from 'vitest';
import { UnfinishedFrames } from './unfinished-frames.ts';

test('unfinished frames: a frame is finished once it was read to its end and all its events are done', () => {
  const [first, second] = [{ seq: 1 }, { seq: 2 }];
  const unfinished = new UnfinishedFrames<{ readonly seq: number }>();
  unfinished.open(first);
  expect(unfinished.takeFinished()).toEqual([]);
  unfinished.add(first);
  unfinished.done(first);
  expect(unfinished.takeFinished()).toEqual([]);
  unfinished.add(first);
  unfinished.close(first);
  expect(unfinished.takeFinished()).toEqual([]);
  unfinished.open(second);
  unfinished.close(second);
  expect(unfinished.takeFinished()).toEqual([second]);
  unfinished.done(first);
  expect(unfinished.takeFinished()).toEqual([first]);
  expect(unfinished.takeFinished()).toEqual([]);
});

test('unfinished frames: two frames with the same sequence, after the log was cut, are counted separately', () => {
  const [before, after] = [{ seq: 7 }, { seq: 7 }];
  const unfinished = new UnfinishedFrames<{ readonly seq: number }>();
  for (const frame of [before, after]) {
    unfinished.open(frame);
    unfinished.add(frame);
    unfinished.close(frame);
  }
  unfinished.done(before);
  expect(unfinished.takeFinished()).toEqual([before]);
});

test('unfinished frames: the span counts from the oldest unfinished frame, with finished frames after it', () => {
  const [first, second, third] = [{ seq: 1 }, { seq: 2 }, { seq: 3 }];
  const unfinished = new UnfinishedFrames<{ readonly seq: number }>();
  expect(unfinished.span).toBe(0);
  for (const frame of [first, second, third]) unfinished.open(frame);
  unfinished.close(third);
  unfinished.takeFinished();
  expect([unfinished.oldest, unfinished.span]).toEqual([first, 3]);
  unfinished.close(first);
  unfinished.takeFinished();
  expect([unfinished.oldest, unfinished.span]).toEqual([second, 2]);
});

test('unfinished frames: a part that is counted as finished twice is an error, even for a frame that seems finished', () => {
  const frame = { seq: 1 };
  const unfinished = new UnfinishedFrames<{ readonly seq: number }>();
  unfinished.open(frame);
  unfinished.add(frame, 2);
  unfinished.close(frame);
  unfinished.done(frame);
  unfinished.done(frame);
  expect(() => unfinished.done(frame)).toThrow('more of its parts are finished than it has');
  expect(unfinished.takeFinished()).toEqual([frame]);
});
