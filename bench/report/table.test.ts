import { expect, test } from 'vitest';
import type { Bar, ResultRow } from '../result/result.ts';
import { renderBars, renderTable } from './table.ts';

test('table: has a column for each figure that any row has', () => {
  const rows: ResultRow[] = [
    { name: 'one', figures: { p50: { unit: 'ms', better: 'less', value: 1.5, rounds: [] } } },
    {
      name: 'another',
      figures: { 'events/s': { unit: 'per_s', better: 'more', value: 12_345, rounds: [] } },
      note: 'so',
    },
  ];
  expect(renderTable(rows).split('\n')).toEqual([
    '             p50  events/s',
    '───────  ───────  ────────  ──',
    'one      1.50 ms',
    'another           12,345/s  so',
  ]);
});

test('bars: a bar without a measured figure is neither met nor missed', () => {
  const bar = (id: string): Bar => ({ id, text: `bar ${id}`, limit: 2, unit: 's', ask: 'at-most' });
  expect(renderBars([bar('a'), bar('b'), bar('c')], { a: 1, b: 3 }).split('\n')).toEqual([
    '  ✓   bar a: 1.00 s (asked ≤ 2.00 s)',
    '  ✗   bar b: 3.00 s (asked ≤ 2.00 s)',
    '  –   bar c: not measured in this run',
  ]);
});

test('bars: a bar whose figure is not a number is missed', () => {
  const bar: Bar = { id: 'a', text: 'bar', limit: 2, unit: 's', ask: 'at-most' };
  expect(renderBars([bar], { a: Number.NaN })).toBe('  ✗   bar: – (asked ≤ 2.00 s)');
});
