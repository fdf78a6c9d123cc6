import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveResult } from '../report/save-result.ts';
import { plainFigure } from '../result/figure.ts';
import type { StoredResult } from '../result/stored-result.ts';
import { resultForTests } from '../testing/result-for-tests.ts';
import { runCompare } from './run-compare.ts';

let folder: string;
beforeAll(async () => {
  folder = `${await mkdtemp(join(tmpdir(), 'sluice-bench-test-'))}/`;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const rates = (...values: number[]): StoredResult =>
  resultForTests([{ name: 'gateway', figures: { 'events/s': plainFigure('per_s', 'more', values) } }]);

async function compare(before: StoredResult, after: StoredResult, failOnRegression = false) {
  const said: string[] = [];
  const [one, other] = [
    await saveResult({ ...before, at: '2026-01-01T00:00:00Z' }, folder),
    await saveResult({ ...after, at: '2026-01-02T00:00:00Z' }, folder),
  ];
  const exitCode = await runCompare({ before: one, after: other, failOnRegression }, (text) => said.push(text));
  return { exitCode, text: said.join('\n') };
}

test('compare: says how many figures got worse, and fails for them only if asked to', async () => {
  const [before, after] = [rates(100, 101, 102), rates(50, 51, 52)];
  expect(await compare(before, after)).toMatchObject({ exitCode: 0, text: expect.stringMatching(/1 of 1 worse/) });
  expect(await compare(before, after, true)).toMatchObject({ exitCode: 1 });
  expect(await compare(after, before, true)).toMatchObject({ exitCode: 0 });
});

test('compare: says which of the two results was measured on a busy machine', async () => {
  const { machine } = rates(1, 2);
  const { text } = await compare(rates(1, 2), { ...rates(1, 2), machine: { ...machine, otherWork: 0.5 } });
  expect(text).toMatch(/^! after: other work took 50 %/m);
});

test('compare: two results of different scenarios are refused', async () => {
  const { exitCode, text } = await compare(rates(1, 2), { ...rates(1, 2), scenario: 'batch' });
  expect([exitCode, text]).toEqual([2, expect.stringContaining('the scenarios differ, track and batch')]);
});

test('compare: single rounds are not judged, and the output says so', async () => {
  const { exitCode, text } = await compare(rates(100), rates(50), true);
  expect([exitCode, text]).toEqual([0, expect.stringContaining('1 not judged')]);
});

test('compare: a missing result file is an error without a stack trace', async () => {
  const said: string[] = [];
  const order = { before: `${folder}nowhere.json`, after: `${folder}nowhere.json`, failOnRegression: false };
  expect(await runCompare(order, (text) => said.push(text))).toBe(2);
  expect(said).toEqual([expect.stringMatching(/^error: reading the result .*nowhere/)]);
});
