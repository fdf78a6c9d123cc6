import { expect, test } from 'vitest';
import { coreTimeOf, describeStolenTime, stolenTime } from './stolen-time.ts';

const stat = 'cpu  10 20 30 400 5 6 7 22 3 4\ncpu0 5 10 15 200 2 3 3 11 1 2\nintr 5\n';

test('stolen time: is the eighth field of the line for all cores, and guest time counts once', () => {
  expect(coreTimeOf(stat)).toEqual({ all: 500, stolen: 22 });
});

test.each(['', 'cpu  1 2 3 4\n', 'cpu0 5 10 15 200 2 3 3 11 1 2\n'])('stolen time: is unknown from %j', (text) => {
  expect(coreTimeOf(text)).toBeUndefined();
});

test('stolen time: is the share from the first to the last sample, with the maximum between two consecutive samples', () => {
  const looks = [0, 10, 90, 100].map((stolen, index) => ({ all: index * 100, stolen }));
  expect(stolenTime(looks)).toEqual({ share: 1 / 3, most: 0.8 });
  expect(stolenTime(looks.slice(0, 1))).toBeUndefined();
});

test('stolen time: is reported if it was large enough to change a figure', () => {
  expect([describeStolenTime(undefined), describeStolenTime({ share: 0.01, most: 0.05 })]).toEqual([
    undefined,
    undefined,
  ]);
  expect(describeStolenTime({ share: 0.015, most: 0.28 })).toContain('1.5 % of its core time');
  expect(describeStolenTime({ share: 0.12, most: 0.2 })).toContain('12 % of its core time');
});
