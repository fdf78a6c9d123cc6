import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { findClockVerdicts } from './find-clock-verdicts.ts';

const top = join(import.meta.dirname, '../../..');

test.each([
  ['expect(Date.now() - startedMs).toBeLessThan(100);'],
  ['const startedMs = performance.now();\nexpect(endMs - startedMs).toBeLessThanOrEqual(100);'],
  ['const tookMs = performance.now() - sent.atMs;\nexpect(tookMs).toBe(5);'],
  ['const took = async () => {\n  return performance.now() - fromMs;\n};\nexpect(await took()).not.toBeLessThan(5);'],
  ['function ageMs() { return Date.now() - startedMs; }\nexpect(5).toBeCloseTo(ageMs());'],
])('clocks in tests: a test that fails on a slow machine is reported: %s', (source) => {
  const inFunction = `test('t', async () => {\n${source}\n});`;
  expect(findClockVerdicts(inFunction)).toEqual([
    { line: inFunction.slice(0, inFunction.indexOf('expect')).split('\n').length, what: 'a duration is asserted' },
  ]);
});

test.each([
  ['expect(Date.now() - startedMs).toBeGreaterThan(100);'],
  ['expect(times.map(({ atMs }) => atMs - first)).toEqual([0, 5]);'],
  ['vi.useFakeTimers();\nexpect(Date.now() - startedMs).toBe(100);'],
  ['const atMs = Date.now();\nexpect(read()).toEqual({ atMs });'],
  ['const at = Date.now() - 60_000;\nexpect(read({ at })).toEqual([]);'],
])('clocks in tests: a test that cannot fail on a slow machine is not reported: %s', (source) => {
  expect(findClockVerdicts(`test('t', () => {\n${source}\n});`)).toEqual([]);
});

test('clocks in tests: a time that is read while a file is imported is found', () => {
  const source =
    'export const rows = [{ time: Date.now() + 310_000 }];\nexport const row = () => Date.now();\nconst a = new Date();';
  expect(findClockVerdicts(source).map(({ line }) => line)).toEqual([1, 3]);
});

test('clocks in tests: the result of no test depends on a duration, and times are read where they are used', async () => {
  const globs = ['*.test.ts', '**/testing/*.ts', '**/testing/**/*.ts'];
  const { stdout } = await promisify(execFile)('git', ['ls-files', '-z', '-co', '--exclude-standard', ...globs], {
    cwd: top,
    maxBuffer: 16 * 1024 ** 2,
  });
  const found: string[] = [];
  for (const path of new Set(stdout.split('\0').filter((one) => one !== ''))) {
    const text = await readFile(join(top, path), 'utf8').catch(() => '');
    for (const { line, what } of findClockVerdicts(text)) found.push(`${path}:${line}: ${what}`);
  }
  expect(found).toEqual([]);
});
