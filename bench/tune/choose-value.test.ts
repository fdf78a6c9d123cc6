import { expect, test } from 'vitest';
import { chooseValue } from './choose-value.ts';

const trials = [
  { value: '1', perS: 100 },
  { value: '2', perS: 103 },
  { value: '4', perS: 120 },
];

test.each([
  ['1', 0.05, '4'],
  ['1', 0.25, '1'],
  ['2', 0.05, '4'],
  ['4', 0.05, '4'],
  ['8', 0.05, '4'],
])('chooseValue: with %s in use and a least gain of %d it is %s', (inUse, leastGain, chosen) => {
  expect(chooseValue(inUse, trials, leastGain)).toBe(chosen);
});

test('chooseValue: without a trial what is in use stays', () => {
  expect(chooseValue('2', [], 0.05)).toBe('2');
});
