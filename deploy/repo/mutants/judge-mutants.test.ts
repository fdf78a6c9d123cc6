import { expect, test } from 'vitest';
import { judgeMutants, outdated, problemsOf, unexamined } from './judge-mutants.ts';
import type { MutationReport } from './judge-mutants.ts';

const source = 'const a = 1;\n  return a > 1 && b;\n';
type Status = MutationReport['files'][string]['mutants'][number]['status'];
const mutant = (status: Status, replacement: string, columns: readonly [number, number] = [10, 15]) => ({
  status,
  mutatorName: 'any',
  replacement,
  location: { start: { line: 2, column: columns[0] }, end: { line: 2, column: columns[1] } },
});
const reportOf = (...mutants: readonly ReturnType<typeof mutant>[]): MutationReport => ({
  files: { 'a.ts': { source, mutants } },
});
const survivor = { file: 'a.ts', line: 'return a > 1 && b;', change: 'a > 1 → a >= 1' };

test('mutants: a mutant that fails a test or never ends is noticed; a mutant that no test reaches is not', () => {
  const verdict = judgeMutants(
    reportOf(
      mutant('Killed', 'true'),
      mutant('Timeout', 'false'),
      mutant('Survived', 'a >= 1'),
      mutant('NoCoverage', 'b', [10, 20]),
      mutant('Ignored', 'x'),
      mutant('CompileError', 'y'),
    ),
  );
  expect(verdict).toEqual({
    noticed: 2,
    score: 50,
    survivors: [survivor, { ...survivor, change: 'a > 1 && b → b' }],
  });
  expect(judgeMutants({ files: {} }).score).toBe(100);
});

test('mutants: a folder passes if its score is high and every survivor is explained', () => {
  const killed = Array.from({ length: 17 }, () => mutant('Killed', 'true'));
  const verdict = judgeMutants(reportOf(...killed, mutant('Survived', 'a >= 1')));
  expect(problemsOf(verdict, [{ ...survivor, why: 'a is an integer' }])).toEqual([]);
  expect(problemsOf(verdict, [])).toEqual([expect.stringContaining('no test notices a > 1 → a >= 1')]);
  expect(problemsOf(verdict, [{ ...survivor, line: 'return a;', why: 'another' }])).toHaveLength(1);
  const low = judgeMutants(reportOf(mutant('Killed', 'true'), mutant('Survived', 'a >= 1')));
  expect(problemsOf(low, [{ ...survivor, why: 'a is an integer' }])).toEqual([
    'score 50.0 %, at least 85 % is required',
  ]);
});

test('mutants: an explanation is outdated once tests notice its mutant, unless its file was not examined', () => {
  const explained = [
    { ...survivor, why: 'one' },
    { ...survivor, change: 'a → b', why: 'two' },
    { ...survivor, file: 'b.ts', why: 'three' },
  ];
  expect(outdated(explained, [survivor], new Set(['a.ts'])).map(({ why }) => why)).toEqual(['two']);
});

test('mutants: an explanation covers as many equal survivors as it says, and is outdated if there are fewer', () => {
  const verdict = { noticed: 98, survivors: [survivor, survivor], score: 98 };
  const once = [{ ...survivor, why: 'one' }];
  const twice = [{ ...survivor, times: 2, why: 'both' }];
  expect(problemsOf(verdict, once)).toEqual([expect.stringContaining('no test notices a > 1 → a >= 1')]);
  expect(problemsOf(verdict, twice)).toEqual([]);
  expect(outdated(twice, [survivor], new Set(['a.ts']))).toEqual(twice);
  expect(outdated(twice, [survivor, survivor], new Set(['a.ts']))).toEqual([]);
});

test('mutants: a file of which the report has no mutant was not examined; a folder needs at least one', () => {
  const report: MutationReport = {
    files: { ...reportOf(mutant('Killed', 'true')).files, 'in/b.ts': { source, mutants: [] } },
  };
  expect(unexamined(['a.ts'], report)).toEqual([]);
  expect(unexamined(['a.ts', 'in', 'in/b.ts', 'i', 'c.ts'], report)).toEqual(['in', 'in/b.ts', 'i', 'c.ts']);
  expect(problemsOf(judgeMutants(reportOf(mutant('Ignored', 'true'))), [])).toEqual(['no mutant was tested']);
});
