import { existsSync, readFileSync, rmSync } from 'node:fs';
import { Stryker } from '@stryker-mutator/core';
import { judgeMutants, outdated, problemsOf, unexamined } from './judge-mutants.ts';
import type { ExplainedSurvivor, MutationReport, Survivor } from './judge-mutants.ts';
import { rooms } from './rooms.ts';
import type { Room } from './rooms.ts';

const reportFile = '.sluice/mutants/report.json';
const baselineFile = 'deploy/repo/mutants/baseline.json';

/** Makes one mutant of the files at a time, and runs the tests that reach it. */
async function mutate({ files, testsIn }: Room): Promise<MutationReport> {
  rmSync(reportFile, { force: true });
  const stryker = new Stryker({
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'deploy/repo/mutants/vitest.config.ts', related: true, ...(testsIn && { dir: testsIn }) },
    mutate: files.map((file) => (file.includes('.') ? file : `${file}/**/*.ts`)).concat('!**/*.test.ts'),
    // Messages are for people: no test should check every word of them.
    mutator: { excludedMutations: ['StringLiteral'] },
    coverageAnalysis: 'perTest',
    // Every test would have to run for a mutant of code that runs once, at import.
    ignoreStatic: testsIn === undefined,
    concurrency: 2,
    // On a busy machine, tests that only became slow would pass for tests that failed. Few mutants never end.
    timeoutMS: 60_000,
    tempDirName: '.sluice/mutants/sandbox',
    // The chart has links to folders, which cannot be copied.
    ignorePatterns: ['dist', '.sluice', 'deploy/helm', 'bench/results'],
    // TypeScript 7 has no interface to rewrite its settings with, and tests do not need them.
    tsconfigFile: 'none.json',
    reporters: ['json'],
    jsonReporter: { fileName: reportFile },
  });
  await stryker.runMutationTest();
  return JSON.parse(readFileSync(reportFile, 'utf8')) as MutationReport;
}

async function look(room: Room, explained: readonly ExplainedSurvivor[]): Promise<boolean> {
  const report = await mutate(room);
  const verdict = judgeMutants(report);
  const found: readonly Survivor[] = verdict.survivors;
  const problems = [
    ...unexamined(room.files, report).map((path) => `${path}: it has no mutants`),
    ...problemsOf(verdict, explained),
    ...outdated(explained, found, new Set(Object.keys(report.files))).map(
      ({ file, change }) => `${baselineFile}: ${file} has no such survivor any more, or fewer: ${change}`,
    ),
  ];
  const all = verdict.noticed + found.length;
  console.log(`${room.name}: ${verdict.score.toFixed(1)} % of ${all} mutants noticed, ${found.length} survived`);
  for (const problem of problems) console.log(`    ${problem}`);
  return problems.length === 0;
}

const paths = process.argv.slice(2);
const explained = JSON.parse(readFileSync(baselineFile, 'utf8')) as readonly ExplainedSurvivor[];
const named = rooms.filter(({ name }) => paths.includes(name));
const files = paths.filter((path) => rooms.every(({ name }) => name !== path));
const missing = files.filter((path) => !existsSync(path));
if (missing.length > 0) throw new Error(`there is no room and no file ${missing.join(', ')}`);
const others = files.length === 0 ? [] : [{ name: files.join(' '), files }];
for (const room of paths.length === 0 ? rooms : [...named, ...others]) {
  if (!(await look(room, explained))) process.exitCode = 1;
}
