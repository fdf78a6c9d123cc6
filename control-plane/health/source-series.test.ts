import { expect, test } from 'vitest';
import type { SourceRecord } from '../../shared/contracts/source-activity.ts';
import { longestLags } from './lag-series.ts';
import { sumCounts, sumSourceSteps } from './source-series.ts';

const record: SourceRecord = {
  lastTriggeredAt: 1,
  minutes: [[60, 1, 2, 0, 0, 0, 0]],
  hours: [
    [0, 9, 0, 1, 2, 3, 4],
    [1, 1, 2, 0, 0, 0, 0],
  ],
  lastInvalid: null,
};
const nowMs = 61 * 60_000;

test('source series: sums all gateways, by minutes for short steps and by hours for long ones', () => {
  const short = sumSourceSteps([record, record], { nowMs, stepMinutes: 1, steps: 2 });
  expect(short.map(({ stored, test: tried }) => [stored, tried])).toEqual([
    [2, 4],
    [0, 0],
  ]);
  const long = sumSourceSteps([record], { nowMs, stepMinutes: 60, steps: 2 });
  expect(long.map(({ stored }) => stored)).toEqual([9, 1]);
  expect(sumCounts(long)).toEqual({ stored: 10, test: 2, lost: 1, invalid: 2, limited: 3, forbidden: 4 });
  expect(sumSourceSteps([record], { nowMs, stepMinutes: 360, steps: 1 })).toMatchObject([{ stored: 10 }]);
});

test('lag series: shows the longest lag that any pipeline has seen, and null for steps without a reading', () => {
  const one = {
    minutes: [
      [60, 5],
      [61, 0],
    ],
    hours: [[1, 5]],
  } as const;
  const two = { minutes: [[60, 7]], hours: [[1, 7]] } as const;
  expect(longestLags([one, two], { nowMs, stepMinutes: 1, steps: 3 })).toEqual([null, 7, 0]);
  expect(longestLags([one, two], { nowMs, stepMinutes: 60, steps: 2 })).toEqual([null, 7]);
});
