import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { saveResult } from '../report/save-result.ts';
import { resultForTests } from '../testing/result-for-tests.ts';
import { readStoredResult } from './stored-result.ts';

let folder: string;
beforeAll(async () => {
  folder = `${await mkdtemp(join(tmpdir(), 'sluice-bench-test-'))}/`;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('stored result: reads back unchanged', async () => {
  const result = resultForTests([{ name: 'gateway', figures: {} }]);
  const path = await saveResult(result, folder);
  expect(path).toBe(`${folder}2026-01-02T030405-track.json`);
  expect(await readStoredResult(path)).toEqual(result);
});

test('stored result: a figure that could not be measured is not read as 0', async () => {
  const path = await saveResult(resultForTests([], { measured: { memory: Number.NaN } }), folder);
  expect((await readStoredResult(path)).measured).toEqual({ memory: Number.NaN });
});

test.each([
  ['not JSON', 'it is not JSON'],
  ['{"scenario":"track","rows":[]}', 'an older bench wrote it'],
  ['null', 'it is not a result'],
  ['{"format":2,"rows":[],"bars":[]}', 'it is not a result'],
])('stored result: %s is refused with a reason', async (text, reason) => {
  const path = join(folder, 'other.json');
  await writeFile(path, text);
  await expect(readStoredResult(path)).rejects.toThrow(reason);
});

test('stored result: the error for a missing file names the file', async () => {
  await expect(readStoredResult(join(folder, 'nowhere.json'))).rejects.toThrow('nowhere.json: the file cannot be read');
});
