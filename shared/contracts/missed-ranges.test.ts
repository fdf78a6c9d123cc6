import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinMissed, joinSkipped } from './missed-ranges.ts';
import type { MissedRange } from './missed-ranges.ts';

const minuteMs = 60_000;

test('missed ranges: ranges close together are joined, and ranges that ended long ago are left out', () => {
  let ranges: readonly MissedRange[] = [];
  for (const minute of [0, 5, 2, 60, 61]) {
    ranges = joinMissed([...ranges, [minute * minuteMs, minute * minuteMs + 1, 10]]);
  }
  expect(ranges).toEqual([
    [0, 5 * minuteMs + 1, 30],
    [60 * minuteMs, 61 * minuteMs + 1, 20],
  ]);
  expect(joinMissed(ranges, 30 * minuteMs)).toEqual([[60 * minuteMs, 61 * minuteMs + 1, 20]]);
});

test('skipped ranges: ranges with the same reason are joined, and ranges that ended long ago are left out', () => {
  const all = [{ retention: [[0, 1, 2]] }, { retention: [[5, 6, 3]], position_lost: [[0, 9, 1]] }] as const;
  expect(joinSkipped(all)).toEqual({ retention: [[0, 6, 5]], position_lost: [[0, 9, 1]] });
  expect(joinSkipped(all, 7)).toEqual({ position_lost: [[0, 9, 1]] });
});

test('missed ranges: in any order, no event is left out or counted twice, and at most 16 ranges are left', () => {
  const frames = fc.array(
    fc.record({ atMs: fc.integer({ min: 0, max: 1e9 }), events: fc.integer({ min: 1, max: 100 }) }),
    { maxLength: 100 },
  );
  fc.assert(
    fc.property(frames, frames, (ours, theirs) => {
      const note = (noted: typeof ours): readonly MissedRange[] =>
        noted.reduce<readonly MissedRange[]>(
          (ranges, { atMs, events }) => joinMissed([...ranges, [atMs, atMs + 1, events]]),
          [],
        );
      const all = joinMissed([...note(ours), ...note(theirs)]);
      expect(all.length).toBeLessThanOrEqual(16);
      expect(all.reduce((sum, [, , events]) => sum + events, 0)).toBe(
        [...ours, ...theirs].reduce((sum, { events }) => sum + events, 0),
      );
      for (const { atMs } of [...ours, ...theirs]) {
        expect(all.filter(([fromMs, toMs]) => atMs >= fromMs && atMs < toMs)).toHaveLength(1);
      }
    }),
  );
});
