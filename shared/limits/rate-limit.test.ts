import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { RateLimit } from './rate-limit.ts';

afterEach(() => void vi.useRealTimers());

const create = () => new RateLimit({ perS: 10, burst: 20 }, () => 0);

test('rate limit: each owner gets its burst at once, then its rate', () => {
  const limit = create();
  expect(limit.take('a', 20, 0)).toBe(0);
  expect(limit.take('a', 1, 0)).toBe(100);
  expect(limit.take('b', 20, 0)).toBe(0);
  expect(limit.take('a', 1, 99)).toBeGreaterThan(0);
  expect(limit.take('a', 1, 100)).toBe(0);
});

test('rate limit: an owner never has more than the burst, and a forgotten owner starts with the full burst', () => {
  const limit = create();
  limit.charge('a', 1, 0);
  expect(limit.take('a', 20, 1_000_000)).toBe(0);
  expect(limit.take('a', 1, 1_000_000)).toBeGreaterThan(0);
  limit.forget('a');
  expect(limit.take('a', 20, 1_000_000)).toBe(0);
});

test('rate limit: a request above the burst passes if the burst is full, and is then paid back', () => {
  const limit = create();
  expect(limit.take('a', 50, 0)).toBe(0);
  expect(limit.take('a', 1, 3_000)).toBe(100);
  expect(limit.take('a', 1, 3_100)).toBe(0);
});

test('rate limit: a clock that is set back costs no more than the units of that moment', () => {
  const limit = create();
  expect(limit.take('a', 20, 1_000_000)).toBe(0);
  expect(limit.take('a', 1, 0)).toBe(100);
  expect(limit.take('a', 1, 100)).toBe(0);
});

test('rate limit: units that were used before they were requested become a debt, which time or a credit pays off', () => {
  const limit = create();
  limit.charge('a', 25, 0);
  limit.charge('b', 19, 0);
  expect([limit.waitMs('a', 0, 0), limit.waitMs('a', 1, 0), limit.waitMs('b', 1, 0)]).toEqual([500, 600, 0]);
  expect([...limit.inDebt(0)]).toEqual([['a', 500]]);
  limit.credit('a', 5);
  expect([limit.waitMs('a', 0, 0), [...limit.inDebt(0)]]).toEqual([0, []]);
  const credited = new RateLimit({ perS: 0, burst: 10 }, () => 0);
  expect([credited.take('a', 10), credited.take('a', 4, 1e9)]).toEqual([0, Infinity]);
  credited.credit('a', 4);
  expect(credited.take('a', 4)).toBe(0);
});

test('rate limit: a credit never exceeds the burst, and has no effect on an owner with a full burst', () => {
  const limit = create();
  limit.charge('a', 5, 0);
  limit.credit('a', 100);
  limit.credit('b', 100);
  expect([limit.take('a', 20, 0), limit.take('a', 1, 0), limit.size]).toEqual([0, 100, 1]);
});

test('rate limit: without a given clock, units return in real time', () => {
  vi.useFakeTimers();
  const limit = new RateLimit({ perS: 10, burst: 20 });
  limit.charge('a', 25);
  expect(limit.waitMs('a')).toBe(500);
  vi.advanceTimersByTime(500);
  expect(limit.waitMs('a')).toBe(0);
});

test('rate limit: over any time, an owner gets at most its burst plus its rate', () => {
  const step = fc.record({ amount: fc.integer({ min: 1, max: 20 }), afterMs: fc.integer({ min: 0, max: 500 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const limit = create();
      let [nowMs, given] = [0, 0];
      for (const { amount, afterMs } of steps) {
        nowMs += afterMs;
        if (limit.take('a', amount, nowMs) === 0) given += amount;
        expect(given).toBeLessThanOrEqual(20 + nowMs / 100 + 1e-6);
      }
    }),
  );
});

test('rate limit: an owner that waits until it is out of debt uses at most the burst, its rate and one charge', () => {
  const pieces = fc.array(fc.record({ units: fc.integer({ min: 0, max: 5_000 }), idleMs: fc.nat(10_000) }), {
    maxLength: 50,
  });
  fc.assert(
    fc.property(pieces, (all) => {
      let [nowMs, used] = [0, 0];
      const limit = new RateLimit({ perS: 100, burst: 2_000 }, () => nowMs);
      for (const { units, idleMs } of all) {
        nowMs += idleMs + limit.waitMs('a');
        expect(used).toBeLessThanOrEqual(2_000 + nowMs * 0.1 + 1e-6);
        limit.charge('a', units);
        used += units;
      }
    }),
  );
});

test('rate limit: take succeeds after the wait that it returned', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), (amount) => {
      const limit = create();
      limit.take('a', 20, 0);
      const waitMs = limit.take('a', amount, 0);
      expect(limit.take('a', amount, Math.ceil(waitMs))).toBe(0);
    }),
  );
});

test('rate limit: among many owners, those with a full burst are forgotten, and above ownersMax the oldest owners', () => {
  let nowMs = 0;
  const draining = new RateLimit({ perS: 1_000, burst: 10 }, () => nowMs);
  for (let owner = 0; owner < 100_000; owner += 1) {
    draining.charge(String(owner), 10);
    nowMs += 1;
  }
  expect(draining.size).toBeLessThanOrEqual(1_000);
  expect(draining.waitMs('99999', 10)).toBe(9);
  const bounded = new RateLimit({ perS: 1, burst: 10, ownersMax: 2_000 }, () => 0);
  for (let owner = 0; owner < 10_000; owner += 1) bounded.charge(String(owner), 20);
  expect(bounded.size).toBeLessThanOrEqual(2_000);
  expect([bounded.waitMs('0'), bounded.waitMs('9999')]).toEqual([0, 10_000]);
});

test('rate limit: up to ownersMax no owner in debt is forgotten; above it the oldest tenth of the owners is', () => {
  const limit = new RateLimit({ perS: 1, burst: 10, ownersMax: 1_050 }, () => 0);
  const sizes = Array.from({ length: 1_051 }, (_, owner) => {
    limit.charge(String(owner), 20);
    return limit.size;
  });
  expect(sizes.slice(0, 1_050)).toEqual(Array.from({ length: 1_050 }, (_, index) => index + 1));
  expect([sizes.at(-1), limit.waitMs('104'), limit.waitMs('105')]).toEqual([946, 0, 10_000]);
});
