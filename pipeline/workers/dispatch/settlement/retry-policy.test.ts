import fc from 'fast-check';
import { expect, test } from 'vitest';
import { delayOfTier, retryTier, retryTierDelaysMs } from '../../../../shared/contracts/events/retry-record.ts';
import { createRetryPolicy } from './retry-policy.ts';

const windowMs = 4 * 3_600_000;
const policy = createRetryPolicy(windowMs, 60_000);
const first = (attempts: number, random: number, afterMs?: number) =>
  policy.next({ attempts, firstAttemptAtMs: 0, nowMs: 0, afterMs }, random);

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
  expect(first(attempts, random)).toEqual({ kind: 'again', tier: retryTier(tier), notBeforeMs });
});

test('retry policy: a held event waits a little longer than its destination is left alone, and is never given up', () => {
  expect(policy.hold(0, 0)).toEqual({ kind: 'again', tier: retryTier(3), notBeforeMs: 60_000 });
  expect(policy.hold(9 * windowMs, 1)).toEqual({
    kind: 'again',
    tier: retryTier(3),
    notBeforeMs: 9 * windowMs + 90_000,
  });
});

test('retry policy: a destination that is held for longer than any tier waits in the last one', () => {
  const patient = createRetryPolicy(windowMs, 4 * 3_600_000);
  expect(patient.hold(0, 0)).toEqual({ kind: 'again', tier: retryTier(6), notBeforeMs: 4 * 3_600_000 });
});

test('retry policy: Retry-After: is honoured when longer than the back-off, and capped at an hour', () => {
  expect(first(1, 1, 20_000)).toEqual({ kind: 'again', tier: retryTier(2), notBeforeMs: 20_000 });
  expect(first(3, 1, 1)).toEqual({ kind: 'again', tier: retryTier(2), notBeforeMs: 30_000 });
  expect(first(1, 1, 1e12)).toEqual({ kind: 'again', tier: retryTier(6), notBeforeMs: 3_600_000 });
});

test('retry policy: window: the last attempt is at its end, then it gives up', () => {
  const late = { attempts: 9, firstAttemptAtMs: 0, nowMs: windowMs - 5_000 };
  expect(policy.next(late, 1)).toEqual({ kind: 'again', tier: retryTier(1), notBeforeMs: windowMs });
  expect(policy.next({ ...late, nowMs: windowMs }, 1)).toEqual({ kind: 'give-up' });
  expect(policy.next({ ...late, afterMs: 5_001 }, 1)).toEqual({ kind: 'give-up' });
  expect(policy.next({ ...late, afterMs: 5_000 }, 1)).toEqual({
    kind: 'again',
    tier: retryTier(1),
    notBeforeMs: windowMs,
  });
});

test('retry policy: property: waits never shrink from one attempt to the next, stay in their tier and inside the window', () => {
  const unit = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.nat(20), unit, unit, fc.nat(windowMs - 1), (attempts, a, b, nowMs) => {
      const now = policy.next({ attempts: attempts + 1, firstAttemptAtMs: 0, nowMs }, a);
      const later = policy.next({ attempts: attempts + 2, firstAttemptAtMs: 0, nowMs }, b);
      if (now.kind !== 'again' || later.kind !== 'again') return expect.unreachable('inside the window');
      const longest = retryTierDelaysMs[delayOfTier(now.tier) ?? -1] ?? 0;
      const wait = now.notBeforeMs - nowMs;
      // The last step draws from one range again and again.
      if (attempts + 1 < 6) expect(later.notBeforeMs).toBeGreaterThanOrEqual(now.notBeforeMs);
      expect(wait).toBeLessThanOrEqual(longest);
      expect(now.notBeforeMs).toBeLessThanOrEqual(windowMs);
    }),
  );
});
