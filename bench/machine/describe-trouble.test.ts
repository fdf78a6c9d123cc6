import { expect, test } from 'vitest';
import { describeTrouble } from './describe-trouble.ts';

const quiet = {
  cores: 2,
  disk: { p50: 0.3, p90: 0.5, p99: 0.9, samples: 300 },
  otherWork: 0.02,
  cpuLoopMs: { best: 40, median: 42 },
  loadAverage: 0.3,
};

test('machine: nothing is reported for a quiet and fast machine, or for a machine that was not measured', () => {
  expect(describeTrouble(quiet)).toBeUndefined();
  expect(describeTrouble({ cores: 2, disk: quiet.disk })).toBeUndefined();
});

test.each([
  [{ otherWork: 0.5 }, '50 % of the cores'],
  [{ loadAverage: 3 }, 'load average 3.0 on 2 cores'],
  [{ cpuLoopMs: { best: 40, median: 60 } }, 'its cores are shared'],
  [{ cpuLoopMs: { best: 120, median: 121 } }, 'its cores are slow'],
  [{ disk: { ...quiet.disk, p50: 9.5 } }, 'a sync of the disk took 9.5 ms'],
])('machine: %j is reported as "%s"', (own, text) => {
  expect(describeTrouble({ ...quiet, ...own })).toContain(text);
});

test('machine: several troubles are reported together', () => {
  expect(describeTrouble({ ...quiet, loadAverage: 3, disk: { ...quiet.disk, p50: 5 } })).toMatch(/load.*; .*sync/);
});
