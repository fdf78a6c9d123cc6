import { expect, test } from 'vitest';
import { describeWork } from './tell-work.ts';

test('work: actors that do not run are listed first, and no more actors are reported than requested', () => {
  const actor = (key: string, state: 'running' | 'quarantined', thread?: number) => ({
    kind: 'dispatcher' as const,
    key,
    state,
    thread,
    failuresInARow: 0,
  });
  const report = describeWork(
    {
      placed: () => [actor('a', 'running', 0), actor('b', 'quarantined'), actor('c', 'running', 1)],
      threads: () => new Map(),
      readyThreads: () => [],
    },
    { actorsMax: 2, nowMs: 0 },
  );
  expect(report.actors).toEqual([
    { kind: 'dispatcher', key: 'b', state: 'quarantined', failuresInARow: 0 },
    { kind: 'dispatcher', key: 'a', state: 'running', thread: 0, failuresInARow: 0 },
  ]);
  expect(report.actorsMore).toBe(1);
});
