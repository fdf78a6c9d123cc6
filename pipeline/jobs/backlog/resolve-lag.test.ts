import { expect, test } from 'vitest';
import { withLag } from './resolve-lag.ts';

const hoursKept = 2;
const empty = { minutes: [], hours: [] };

test('resolve lag: each minute and hour keeps the longest wait seen in it; a shorter wait does not change the record', () => {
  const first = withLag(empty, 5.4, { nowMs: 61 * 60_000, hoursKept });
  expect(first).toEqual({ minutes: [[61, 5]], hours: [[1, 5]] });
  expect(withLag(first, 3, { nowMs: 61 * 60_000 + 1, hoursKept })).toBe(first);
  expect(withLag(first, 3, { nowMs: 62 * 60_000, hoursKept })).toEqual({
    minutes: [
      [61, 5],
      [62, 3],
    ],
    hours: [[1, 5]],
  });
});

test('resolve lag: minutes are kept for 15 minutes, and hours for the configured number of hours', () => {
  let record = withLag(empty, 1, { nowMs: 0, hoursKept });
  for (let minute = 1; minute < 200; minute += 1)
    record = withLag(record, minute, { nowMs: minute * 60_000, hoursKept });
  expect(record.minutes).toHaveLength(16);
  expect(record.hours).toEqual([
    [2, 179],
    [3, 199],
  ]);
});
