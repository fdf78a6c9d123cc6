import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { topFolder } from '../shared/runtime/compiled-path.ts';
import { generatedPages } from './generated-pages.ts';
import { readKeptResults } from './report/results-page.ts';
import { resultsFolder } from './report/save-result.ts';

test('generated pages: are up to date with the faults and the kept results (else: npm run generate)', async () => {
  for (const { path, text } of await generatedPages()) {
    const written = await readFile(new URL(path, topFolder), 'utf8');
    expect({ path, text: written }).toEqual({ path, text });
  }
});

test('kept results: there is one run per scenario, and the files are short enough to be read in diffs', async () => {
  const kept = await readKeptResults(resultsFolder);
  const scenarios = kept.map(({ result }) => result.scenario);
  expect(scenarios).toEqual([...new Set(scenarios)]);
  expect(kept.length).toBeGreaterThan(15);
  const texts = await Promise.all(kept.map(({ file }) => readFile(`${resultsFolder}${file}`, 'utf8')));
  expect(texts.join('').split('\n').length).toBeLessThan(5_000);
});
