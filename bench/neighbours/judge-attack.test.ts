import { expect, test } from 'vitest';
import { expectedPerS, problemWith, shortfallOf } from './judge-attack.ts';

const expects = { answers: ['200', '429'], perS: 50 };

test('attack: its rate counts only the expected responses', () => {
  const rateOf = (answers: Readonly<Record<string, number>>) =>
    expectedPerS(expects, { attackS: 5, tally: { answers } });
  expect(rateOf({ 200: 100, 429: 100, 503: 400, none: 9 })).toBe(40);
  expect(rateOf({ 503: 400 })).toBe(0);
});

test('attack: a rate below 80 % of the stated one gets a note; an attack without a stated rate cannot miss it', () => {
  expect(shortfallOf(expects, 40)).toBeUndefined();
  expect(shortfallOf(expects, 39)).toBe('only 39 of the stated 50 per second were answered 200 or 429');
  expect([shortfallOf({ answers: ['200'] }, 1), shortfallOf(undefined)]).toEqual([undefined, undefined]);
});

test('attack: an attack without an expected response did not happen, which is a failure', () => {
  expect(problemWith({ name: 'merges', expects }, 0)).toBe(
    'merges: there was no attack, as no request was answered 200 or 429',
  );
  expect(problemWith({ name: 'merges', expects }, 0.2)).toBeUndefined();
  expect(problemWith({ name: 'nobody' })).toBeUndefined();
});
