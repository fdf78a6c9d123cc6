import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainFigure } from '../result/figure.ts';
import { resultForTests } from '../testing/result-for-tests.ts';
import { readKeptResults, renderResultsPage } from './results-page.ts';
import { saveResult } from './save-result.ts';

let folder: string;
beforeAll(async () => {
  folder = `${await mkdtemp(join(tmpdir(), 'sluice-bench-test-'))}/`;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('results page: the number of rounds is that of the measured values, not that of the command line', () => {
  const figures = { first: plainFigure('s', 'less', [1]), all: plainFigure('s', 'less', [1, 2]) };
  const pageOf = (rows: Parameters<typeof resultForTests>[0]) =>
    renderResultsPage([{ file: 'a.json', result: resultForTests(rows, { settings: { rounds: 3 } }) }]);
  expect(pageOf([{ name: 'one', figures }])).toContain(', 2 rounds.');
  expect(pageOf([{ name: 'one', figures: { first: figures.first } }])).toContain(', 1 round.');
});

test('results page: a quick run is refused', async () => {
  await saveResult(resultForTests([], { isQuick: true }), folder);
  await expect(readKeptResults(folder)).rejects.toThrow('2026-01-02T030405-track.json is a quick run');
});
