import { expect, test } from 'vitest';
import { chooseValue } from './choose-value.ts';

const trials = [
  { value: '1', perS: [99, 100, 101] },
  { value: '2', perS: [102, 103, 104] },
  { value: '4', perS: [118, 120, 122] },
];

test.each([
  ['1', 0.05, '4'],
  ['1', 0.25, '1'],
  ['2', 0.05, '4'],
  ['4', 0.05, '4'],
  ['8', 0.05, '8'],
])('chooseValue: with %s in use and a minimum gain of %d, the choice is %s', (inUse, leastGain, chosen) => {
  expect(chooseValue(inUse, trials, leastGain)).toBe(chosen);
});

test('chooseValue: a value that was better only now and then is not recommended', () => {
  const scattered = [
    { value: '1', perS: [80, 100, 120] },
    { value: '2', perS: [110, 130, 150] },
  ];
  expect(chooseValue('1', scattered, 0.05)).toBe('1');
});

test('chooseValue: a single round recommends nothing', () => {
  const once = [
    { value: '1', perS: [100] },
    { value: '2', perS: [900] },
  ];
  expect(chooseValue('1', once, 0.05)).toBe('1');
});

test('chooseValue: without a trial the value in use stays', () => {
  expect(chooseValue('2', [], 0.05)).toBe('2');
});
