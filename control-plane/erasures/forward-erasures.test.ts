import { expect, test } from 'vitest';
import { settledBy } from './forward-erasures.ts';

const dueMs = 1_000_000_000;
const target = { attempts: 1, dueMs, reference: undefined, state: 'pending' } as const;

test('forwarding: retries back off up to an hour, or for as long as the platform asks, and end at the deadline', () => {
  const waits = [1, 2, 9, 100].map((attempts) => {
    const { nextAttemptAt } = settledBy({ kind: 'retry', reason: 'status 503' }, { ...target, attempts }, 0);
    return nextAttemptAt?.getTime();
  });
  expect(waits).toEqual([10_000, 20_000, 2_560_000, 3_600_000]);
  const asked = settledBy({ kind: 'retry', reason: 'status 429', afterMs: 60_000 }, target, 0);
  expect(asked).toMatchObject({ state: 'pending', reason: 'status 429', nextAttemptAt: new Date(60_000) });
  expect(settledBy({ kind: 'retry', reason: 'status 503' }, target, dueMs)).toMatchObject({
    state: 'failed',
    reason: 'not done by the deadline: status 503',
    nextAttemptAt: undefined,
  });
});

test('forwarding: a deletion whose state the platform reports is polled until the deadline', () => {
  const requested = { kind: 'requested', reference: 'job 1' } as const;
  const settled = settledBy(requested, target, 0);
  expect(settled).toMatchObject({ state: 'requested', reference: 'job 1', nextAttemptAt: new Date(6 * 3_600_000) });
  const again = { ...target, reference: 'job 1', state: 'requested' } as const;
  // If a poll fails, the deletion is not requested again.
  expect(settledBy({ kind: 'retry', reason: 'status 503' }, again, 0)).toMatchObject({
    state: 'requested',
    reference: 'job 1',
  });
  expect(settledBy(requested, again, dueMs)).toMatchObject({ state: 'failed', reference: 'job 1' });
  expect(settledBy({ ...requested, isFinal: true }, target, 0)).toMatchObject({ nextAttemptAt: undefined });
});
