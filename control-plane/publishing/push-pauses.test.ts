import { expect, test } from 'vitest';
import { createPushPauses } from './push-pauses.ts';

test('push pauses: an account waits by what was written of it, and nobody else does', () => {
  const pauses = createPushPauses(1_000);
  expect([pauses.waiting(0), pauses.nextInMs(0)]).toEqual([[], undefined]);
  pauses.note('large', 4_000, 0);
  pauses.note('small', 1, 0);
  expect([pauses.waiting(99), pauses.nextInMs(99)]).toEqual([['large', 'small'], 1]);
  expect([pauses.waiting(100), pauses.nextInMs(100)]).toEqual([['large'], 3_900]);
  expect([pauses.waiting(4_000), pauses.nextInMs(4_000)]).toEqual([[], undefined]);
});
