import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fineStepMs, hourMs, joinStepCounts, otherRow } from '../../../../shared/contracts/step-counts.ts';
import type { StepCounts } from '../../../../shared/contracts/step-counts.ts';
import { isDeliveryCounts } from '../../../../shared/contracts/delivery-counts.ts';
import { StepTable } from './step-table.ts';

const startMs = 480_000 * hourMs;
const limits = { hoursKept: 168, rowsMax: 4, cellsMax: 400, spareOf: () => 'stopped other' };
const open = (): StepTable => new StepTable(limits, startMs);

/** Sums by row, over all steps, or over the steps of one hour. */
function sums(parts: readonly (StepCounts | undefined)[], hour?: number): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { step, isHour, row, count } of joinStepCounts(parts)?.cells ?? []) {
    const ofHour = isHour ? step : Math.floor((step * fineStepMs) / hourMs);
    if (hour === undefined || ofHour === hour) found[row] = (found[row] ?? 0) + count;
  }
  return found;
}

test('step table: events count in the step of their own time; steps are five minutes for a day, then an hour', () => {
  const table = open();
  table.record('a', 'x', startMs, startMs);
  table.record('a', 'x', startMs + fineStepMs, startMs + fineStepMs, 2);
  table.record('a', 'y', startMs, startMs + 2 * fineStepMs);
  expect(table.toCounts('all')).toMatchObject({
    rows: ['a'],
    columns: ['x', 'y'],
    fine: [
      [startMs / fineStepMs, 0, 1, 1, 1],
      [startMs / fineStepMs + 1, 0, 2],
    ],
    hours: [],
  });
  const laterMs = startMs + 26 * hourMs;
  table.record('b', 'x', laterMs, laterMs);
  table.record('a', 'x', startMs, laterMs);
  expect(table.toCounts('all')).toMatchObject({
    fine: [[laterMs / fineStepMs, expect.any(Number), 1]],
    hours: [[startMs / hourMs, expect.any(Number), 4, expect.any(Number), 1]],
    hoursUntil: laterMs / hourMs - 24,
  });
});

test('step table: rows beyond the limit share one row, and there is room again once a row is too old', () => {
  const table = open();
  for (const row of ['a', 'b', 'c', 'd', 'e']) table.record(row, 'x', startMs, startMs);
  expect(sums([table.toCounts('all')])).toEqual({ a: 1, b: 1, c: 1, [otherRow]: 2 });
  const laterMs = startMs + 200 * hourMs;
  table.record('d', 'x', laterMs, laterMs);
  table.record('e', 'x', laterMs, laterMs);
  expect(sums([table.toCounts('all')])).toEqual({ d: 1, e: 1 });
});

test('step table: columns beyond the limit are counted in one shared column', () => {
  const table = open();
  for (let rule = 0; rule < 500; rule += 1) table.record('a', `stopped ${rule}`, startMs, startMs);
  const counts = table.toCounts('all');
  expect(counts?.columns.length).toBeLessThanOrEqual(128);
  expect(counts?.columns).toContain('stopped other');
  expect(sums([counts])).toEqual({ a: 500 });
});

test('step table: with too many cells, steps become hours sooner, then the oldest hours are dropped and `since` is set', () => {
  const table = open();
  let nowMs = startMs;
  for (let step = 0; step < 150 * 12; step += 1) {
    nowMs = startMs + step * fineStepMs;
    for (const row of ['a', 'b', 'c']) table.record(row, `x${step % 2}`, nowMs, nowMs);
  }
  const counts = table.toCounts('all');
  const cells = [...(counts?.fine ?? []), ...(counts?.hours ?? [])].reduce(
    (sum, step) => sum + (step.length - 1) / 2,
    0,
  );
  expect(cells).toBeLessThanOrEqual(limits.cellsMax);
  expect(counts?.since).toBeGreaterThan(startMs);
  expect(sums([counts], Math.floor(nowMs / hourMs))).toEqual({ a: 12, b: 12, c: 12 });
});

test('step table: property: in any order of writes and crashes, no count is lost or doubled', () => {
  const step = fc.record({
    row: fc.constantFrom('a', 'b', 'c'),
    column: fc.constantFrom('x', 'y'),
    agoMs: fc.integer({ min: 0, max: 30 * hourMs }),
    afterMs: fc.integer({ min: 0, max: 5 * hourMs }),
    stores: fc.constantFrom('nothing', 'recent', 'all', 'all, not recent', 'all fails'),
    dies: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let nowMs = startMs;
      let table = new StepTable({ ...limits, cellsMax: 4_096 }, nowMs);
      let [past, recent]: (StepCounts | undefined)[] = [];
      let stored = 0;
      let counted = 0;
      for (const { row, column, agoMs, afterMs, stores, dies } of steps) {
        nowMs += afterMs;
        table.record(row, column, nowMs - agoMs, nowMs);
        counted += 1;
        if (stores === 'all fails') table.markStored()();
        else if (stores !== 'nothing') {
          if (stores !== 'recent' || table.isAllDue(nowMs)) {
            past = table.toCounts('all');
            table.markStored();
          }
          if (stores !== 'all, not recent') recent = table.toCounts('changed');
          stored = counted;
        }
        const total = Object.values(sums([past, recent])).reduce((sum, one) => sum + one, 0);
        expect(total).toBe(stored);
        if (!dies) continue;
        // Passes the counts through JSON, as storing and reading them does.
        [past, recent] = [past, recent].map((part) => part && (JSON.parse(JSON.stringify(part)) as StepCounts));
        for (const part of [past, recent])
          expect(part === undefined || isDeliveryCounts.Check({ names: part })).toBe(true);
        table = new StepTable({ ...limits, cellsMax: 4_096 }, nowMs, past, recent);
        counted = stored;
      }
    }),
    { numRuns: 300 },
  );
});
