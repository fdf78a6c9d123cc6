import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TokenBucket } from './token-bucket.ts';

test('token bucket: gives its burst at once, then its rate', () => {
  const bucket = new TokenBucket(10, 20, 0);
  expect(bucket.take(20, 0)).toBe(0);
  expect(bucket.take(1, 0)).toBe(100);
  expect(bucket.take(1, 99)).toBeGreaterThan(0);
  expect(bucket.take(1, 100)).toBe(0);
});

test('token bucket: never holds more than its capacity', () => {
  const bucket = new TokenBucket(10, 20, 0);
  expect(bucket.take(20, 1_000_000)).toBe(0);
  expect(bucket.take(1, 1_000_000)).toBeGreaterThan(0);
});

test('token bucket: more than it can hold passes when it is full, and is paid back', () => {
  const bucket = new TokenBucket(10, 20, 0);
  expect(bucket.take(50, 0)).toBe(0);
  expect(bucket.take(1, 3_000)).toBe(100);
  expect(bucket.take(1, 3_100)).toBe(0);
});

test('token bucket: a clock that is set back costs nothing but that moment', () => {
  const bucket = new TokenBucket(10, 20, 1_000_000);
  expect(bucket.take(20, 1_000_000)).toBe(0);
  expect(bucket.take(1, 0)).toBe(100);
  expect(bucket.take(1, 100)).toBe(0);
});

test('token bucket: over any time it gives its capacity and its rate at most', () => {
  const step = fc.record({ events: fc.integer({ min: 1, max: 20 }), afterMs: fc.integer({ min: 0, max: 500 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const bucket = new TokenBucket(10, 20, 0);
      let nowMs = 0;
      let given = 0;
      for (const { events, afterMs } of steps) {
        nowMs += afterMs;
        if (bucket.take(events, nowMs) === 0) given += events;
        expect(given).toBeLessThanOrEqual(20 + nowMs / 100 + 1e-6);
      }
    }),
  );
});

test('token bucket: after the wait it names, it gives', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), (events) => {
      const bucket = new TokenBucket(10, 20, 0);
      bucket.take(20, 0);
      const waitMs = bucket.take(events, 0);
      expect(bucket.take(events, Math.ceil(waitMs))).toBe(0);
    }),
  );
});

test('token bucket: tokens that were used before they were requested are a debt', () => {
  const bucket = new TokenBucket(10, 20, 0);
  expect(bucket.take(0, 0)).toBe(0);
  bucket.charge(25, 0);
  expect(bucket.take(0, 0)).toBe(500);
  expect(bucket.take(0, 500)).toBe(0);
});
