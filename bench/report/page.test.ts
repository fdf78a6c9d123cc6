import { expect, test } from 'vitest';
import type { ResultRow } from '../result/result.ts';
import { resultForTests } from '../testing/result-for-tests.ts';
import { embedJson, escapeHtml, renderPage } from './page.ts';

const hostile = `</script><script>alert("1")</script><img src=x onerror='alert(2)'>&`;

test('page: names, notes, advice and settings are escaped as text wherever they appear', async () => {
  const row: ResultRow = {
    name: hostile,
    note: hostile,
    figures: { [hostile]: { unit: 'per_s', better: 'more', value: 1, rounds: [[1]] } },
    series: [{ chart: 'throughput', name: hostile, unit: 'per_s', points: [[1, 2]] }],
  };
  const page = await renderPage([
    resultForTests([row], {
      scenario: hostile,
      summary: hostile,
      advice: [hostile],
      settings: { [hostile]: hostile },
      bars: [{ id: 'bar', text: hostile, limit: 1, unit: 'ratio', ask: 'at-least' }],
    }),
  ]);
  expect(page).not.toContain('<script>alert');
  expect(page).not.toContain('<img');
  expect(page).toContain(escapeHtml(hostile));
});

test('page: contains the data of its charts, and loads nothing from elsewhere', async () => {
  const points = [
    [1, 100],
    [2, 120],
  ] as const;
  const row: ResultRow = {
    name: 'gateway',
    figures: {},
    series: [{ chart: 'latency', name: 'p99', unit: 'ms', points }],
  };
  const page = await renderPage([resultForTests([row])]);
  const json = /<script type="application\/json" id="charts">(.*)<\/script>/.exec(page)?.[1] ?? '';
  expect(JSON.parse(json)).toEqual([
    { result: 0, title: 'Latency', unit: 'ms', lines: [{ label: 'gateway: p99', subject: 0, points }] },
  ]);
  expect(page).not.toMatch(/(src|href)="/);
  expect(page).toContain("default-src 'none'");
});

test('page: each bar is shown as met, missed or unknown', async () => {
  const bar = (id: string, limit: number) => ({ id, text: id, limit, unit: 'ratio', ask: 'at-least' }) as const;
  const page = await renderPage([
    resultForTests([], { bars: [bar('low', 1), bar('high', 3), bar('none', 1)], measured: { low: 2, high: 2 } }),
  ]);
  expect([...page.matchAll(/<li class="(\w+)">/g)].map(([, state]) => state)).toEqual(['met', 'missed', 'unknown']);
});

test('embedJson: the embedded text parses back to the same value', () => {
  const value = { text: hostile, lines: '\u2028\u2029' };
  expect(JSON.parse(embedJson(value))).toEqual(value);
  expect(embedJson(value)).not.toMatch(/[<\u2028\u2029]/);
});
