import { expect, test } from 'vitest';
import { ReportedStats } from './hosted-actors.ts';

test('reported stats: the first stats are reported, and later stats only if a number has changed', () => {
  const reported = new ReportedStats();
  expect(reported.take({ frames: 0, events: 0 })).toBe(true);
  expect(reported.take({ frames: 0, events: 0 })).toBe(false);
  expect(reported.take({ frames: 0, events: 3 })).toBe(true);
  expect(reported.take({ frames: 0, events: 3 })).toBe(false);
});

test('reported stats: a change within the same object is reported', () => {
  const reported = new ReportedStats();
  const stats = { frames: 1 };
  reported.take(stats);
  stats.frames += 1;
  expect(reported.take(stats)).toBe(true);
});
