import fc from 'fast-check';
import { expect, test } from 'vitest';
import { delayOfTier, retryTier, retryTierDelaysMs } from '../../../../shared/contracts/events/retry-record.ts';
import { createRetryPolicy } from './retry-policy.ts';

const windowMs = 4 * 3_600_000;
const policy = createRetryPolicy(windowMs, 60_000);

const attempted = { attempts: 0, firstAttemptAtMs: 0, heldAtMs: undefined };
const failed = { attempted, outcome: { kind: 'retry', reason: 'busy' }, nowMs: 0, hasTakenOthers: false } as const;
const refused = { ...failed, outcome: { kind: 'retry', reason: 'bad key', refusesAccess: true } } as const;

/** The step that follows a failed attempt; `attempts` is the number of this attempt. */
const stepAfter = (attempts: number, random: number, afterMs?: number, nowMs = 0) => {
  const outcome = { ...failed.outcome, ...(afterMs === undefined ? {} : { afterMs }) };
  return policy({ ...failed, attempted: { ...attempted, attempts: attempts - 1 }, outcome, nowMs }, random);
};
const again = (notBeforeMs: number, delay: number) => ({ kind: 'again', tier: retryTier(delay), notBeforeMs });

test.each([
  [1, 0, 500, 0],
  [1, 1, 1_000, 0],
  [2, 0, 1_000, 0],
  [2, 1, 5_000, 1],
  [3, 1, 30_000, 2],
  [4, 1, 120_000, 3],
  [5, 1, 600_000, 4],
  [6, 1, 1_800_000, 5],
  [60, 1, 1_800_000, 5],
])('retry policy: attempt %i with random %f: waits %i ms in tier %i', (attempts, random, notBeforeMs, tier) => {
  expect(stepAfter(attempts, random)).toEqual({
    ...again(notBeforeMs, tier),
    attempted: { ...attempted, attempts },
    reason: 'busy',
  });
});

test('retry policy: refusal: the event becomes a dead letter at once, and its attempt is counted', () => {
  const outcome = { kind: 'reject', reason: 'no such field' } as const;
  const fresh = { attempts: 0, firstAttemptAtMs: undefined, heldAtMs: undefined };
  expect(policy({ ...failed, attempted: fresh, outcome, nowMs: 7 }, 1)).toEqual({
    kind: 'dead letter',
    why: 'refused',
    attempted: { attempts: 1, firstAttemptAtMs: 7, heldAtMs: undefined },
    reason: 'no such field',
  });
});

test('retry policy: access refused: the event waits a little longer than the pause, whatever its age, and no attempt is counted', () => {
  expect(policy(refused, 0)).toMatchObject({ kind: 'paused', tier: retryTier(3), notBeforeMs: 60_000 });
  const nowMs = 9 * windowMs;
  expect(policy({ ...refused, nowMs }, 1)).toEqual({
    kind: 'paused',
    tier: retryTier(3),
    notBeforeMs: nowMs + 90_000,
    attempted: { attempts: 0, firstAttemptAtMs: nowMs, heldAtMs: nowMs },
    reason: 'bad key',
  });
});

test('retry policy: access refused: if other events were accepted since, the event becomes a dead letter, unlike one that failed otherwise', () => {
  expect(policy({ ...refused, hasTakenOthers: true }, 0)).toMatchObject({ kind: 'dead letter', why: 'refused' });
  expect(policy({ ...failed, hasTakenOthers: true }, 0)).toMatchObject({ kind: 'again' });
});

test('retry policy: a pause longer than any tier is spent in the last tier', () => {
  const patient = createRetryPolicy(windowMs, 4 * 3_600_000);
  expect(patient(refused, 0)).toMatchObject({ kind: 'paused', tier: retryTier(6), notBeforeMs: 4 * 3_600_000 });
});

test('retry policy: Retry-After: is honoured when longer than the back-off, and capped at an hour', () => {
  expect(stepAfter(1, 1, 20_000)).toMatchObject(again(20_000, 2));
  expect(stepAfter(3, 1, 1)).toMatchObject(again(30_000, 2));
  expect(stepAfter(1, 1, 1e12)).toMatchObject(again(3_600_000, 6));
});

test('retry policy: window: the last attempt is made when the retry window ends; if it fails, the event becomes a dead letter', () => {
  const lateMs = windowMs - 5_000;
  const exhausted = { kind: 'dead letter', why: 'exhausted', reason: 'no attempt left: busy' };
  expect(stepAfter(9, 1, undefined, lateMs)).toMatchObject(again(windowMs, 1));
  expect(stepAfter(9, 1, undefined, windowMs)).toMatchObject(exhausted);
  expect(stepAfter(9, 1, 5_001, lateMs)).toMatchObject(exhausted);
  expect(stepAfter(9, 1, 5_000, lateMs)).toMatchObject(again(windowMs, 1));
});

test('retry policy: property: waits never shrink from one attempt to the next, stay in their tier and inside the window', () => {
  const unit = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.nat(20), unit, unit, fc.nat(windowMs - 1), (attempts, a, b, nowMs) => {
      const now = stepAfter(attempts + 1, a, undefined, nowMs);
      const later = stepAfter(attempts + 2, b, undefined, nowMs);
      if (now.kind !== 'again' || later.kind !== 'again') return expect.unreachable('inside the window');
      const longest = retryTierDelaysMs[delayOfTier(now.tier) ?? -1] ?? 0;
      const wait = now.notBeforeMs - nowMs;
      // From the sixth attempt on, all waits are drawn from the same range.
      if (attempts + 1 < 6) expect(later.notBeforeMs).toBeGreaterThanOrEqual(now.notBeforeMs);
      expect(wait).toBeLessThanOrEqual(longest);
      expect(now.notBeforeMs).toBeLessThanOrEqual(windowMs);
    }),
  );
});
