import { expect, test } from 'vitest';
import { createEventsPerFrame } from './backlog-watch.ts';

test('events per frame: the estimate follows the frames that a reader has read', () => {
  const known = createEventsPerFrame();
  expect(known.of('a')).toBe(1);
  known.note('a', 10, 500);
  expect(known.of('a')).toBe(50);
  for (let frames = 11; frames < 40; frames += 1) known.note('a', frames, 500 + (frames - 10));
  expect(known.of('a')).toBeLessThan(2);
});

test('events per frame: a reader that has read no frame yet is assumed to be like the other readers', () => {
  const known = createEventsPerFrame();
  for (let frames = 1; frames < 40; frames += 1) known.note('a', frames, frames * 20);
  expect(known.of('b')).toBeCloseTo(20, 0);
});

test('events per frame: a reader that restarts keeps its estimate', () => {
  const known = createEventsPerFrame();
  known.note('a', 100, 1_000);
  known.note('a', 2, 20);
  known.note('a', 2, 20);
  expect(known.of('a')).toBe(10);
});
