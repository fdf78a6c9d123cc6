import { expect, test } from 'vitest';
import { summarizeKind } from './read-rollout.ts';

const gateway = (revision: number, revisionAt: string) => ({ kind: 'gateway', revision, revisionAt }) as const;

test('rollout: counts the instances that run a revision, and says since when if all run it and none runs another', () => {
  const [first, second] = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z'];
  expect(summarizeKind('gateway', [gateway(7, first), gateway(7, second)], 7)).toEqual({
    kind: 'gateway',
    alive: 2,
    running: 2,
    since: second,
  });
  expect(summarizeKind('gateway', [gateway(7, first), gateway(6, second)], 7)).toMatchObject({
    running: 1,
    since: null,
  });
  expect(summarizeKind('gateway', [gateway(8, first)], 7)).toMatchObject({ running: 1, since: null });
  expect(summarizeKind('pipeline', [gateway(7, first)], 7)).toMatchObject({ alive: 0, running: 0, since: null });
});
