import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resultForTests } from '../testing/result-for-tests.ts';
import { runPage, saveResult } from './save-result.ts';

let folder: string;
beforeAll(async () => {
  folder = `${await mkdtemp(join(tmpdir(), 'sluice-bench-test-'))}/`;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test('page: is made from saved results', async () => {
  const files = [
    await saveResult(resultForTests([{ name: 'gateway', figures: {} }]), folder),
    await saveResult(resultForTests([], { scenario: 'batch' }), folder),
  ];
  const said: string[] = [];
  expect(await runPage(files, (text) => said.push(text), folder)).toBe(0);
  const path = said[0]?.replace('page: ', '') ?? '';
  expect(await readFile(path, 'utf8')).toContain('Sluice bench: track, batch');
});

test('page: a missing result file is an error without a stack trace', async () => {
  const said: string[] = [];
  expect(await runPage([`${folder}nowhere.json`], (text) => said.push(text), folder)).toBe(2);
  expect(said).toEqual([expect.stringMatching(/^error: reading the result .*nowhere/)]);
});
