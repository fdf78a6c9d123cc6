import { expect, test } from 'vitest';
import { ok, warn } from '../../../shared/doctor/finding.ts';
import { runChecks } from './run-checks.ts';
import { exitCodeOf, findingsJson, showFindings } from './show-findings.ts';

const good = ok('a', 'fine');
const poor = warn('b', 'so so', 'do this');

test('doctor: findings come in the order of the checks', async () => {
  let finish: (() => void) | undefined;
  const slow = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const first = { about: 'first', advice: 'try', run: () => slow.then(() => [good]) };
  const second = {
    about: 'second',
    advice: 'try',
    run: () => {
      finish?.();
      return Promise.resolve([poor]);
    },
  };
  expect(await runChecks([first, second], 30_000)).toEqual([good, poor]);
});

test('doctor: a check that never ends, and one that throws, are findings', async () => {
  const never = { about: 'never', advice: 'wait for it', run: () => new Promise<never>(() => undefined) };
  const broken = { about: 'broken', advice: 'fix it', run: () => Promise.reject(new Error('why')) };
  const findings = await runChecks([never, broken], 20);
  expect(findings.map(({ about, level, advice }) => [about, level, advice])).toEqual([
    ['never', 'fail', 'wait for it'],
    ['broken', 'fail', 'fix it'],
  ]);
  expect(findings[1]?.detail).toBe('why');
});

test('doctor: each finding is shown with its advice, and the exit code is that of the worst level', () => {
  const text = showFindings([good, poor]);
  expect(text).toMatch(/warn {2}b +so so\n +→ do this/);
  expect(text).toMatch(/1 ok, 1 to check, 0 broken/);
  expect(JSON.parse(findingsJson([good, poor]))).toEqual({ level: 'warn', findings: [good, poor] });
  expect([[good], [poor], [{ ...poor, level: 'fail' as const }]].map(exitCodeOf)).toEqual([0, 1, 2]);
});
