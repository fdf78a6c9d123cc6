import { expect, test } from 'vitest';
import { isChosen, readAge } from './letter-choice.ts';

test('letter choice: letters are chosen by reason, by age and by number', () => {
  const letter = { reason: 'why', storedAtMs: 100, seqs: [4, 5] };
  expect(isChosen({}, letter)).toBe(true);
  expect([isChosen({ reason: 'why', toMs: 101, seq: 5 }, letter), isChosen({ reason: 'wh' }, letter)]).toEqual([
    true,
    false,
  ]);
  expect([isChosen({ toMs: 100 }, letter), isChosen({ seq: 6 }, letter)]).toEqual([false, false]);
});

test('letter choice: an age is a number of minutes, hours or days', () => {
  expect(['90m', '12h', '7d'].map(readAge)).toEqual([5_400_000, 43_200_000, 604_800_000]);
  for (const text of ['', '7', '7w', '-1d', '1.5h']) expect(() => readAge(text)).toThrow(/--older-than must be an age/);
});
