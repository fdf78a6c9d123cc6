import { expect, test } from 'vitest';
import { LargeWriters } from './large-writers.ts';

test('large writers: an account that wrote much is one for a second, one that wrote little is none', () => {
  let nowMs = 1;
  const writers = new LargeWriters(() => nowMs);
  writers.note('large', 4_096);
  writers.note('small', 4_095);
  expect(['large', 'small'].map((id) => writers.has(id))).toEqual([true, false]);
  nowMs += 999;
  expect(writers.has('large')).toBe(true);
  nowMs += 2;
  expect(writers.has('large')).toBe(false);
});
