import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashEvent } from '../../../shared/contracts/events/event-hash.ts';
import { createSamplingBucket, createSamplingBuckets } from './sampling-bucket.ts';

const rate = { perSecondMax: 500, burstMax: 10_000 };
const hashOf = (id: string) => (): number => hashEvent('account', id).high;

/** Sends `perSecond` events per second for `seconds`; returns how many events each represents, 0 if left out. */
function flood(perSecond: number, seconds: number, limits = rate): number[] {
  const bucket = createSamplingBucket(limits, 0);
  const events = perSecond * seconds;
  return Array.from({ length: events }, (_, n) => bucket.take(hashOf(`event-${n}`), (n * 1000) / perSecond));
}

test('sampling bucket: below its rate, every event passes', () => {
  expect(flood(400, 60).every((sampleOf) => sampleOf === 1)).toBe(true);
});

test('sampling bucket: lets no more through than the rate and one burst, however large the flood', () => {
  fc.assert(
    fc.property(fc.integer({ min: 600, max: 20_000 }), (perSecond) => {
      const passed = flood(perSecond, 5, { perSecondMax: 50, burstMax: 500 }).filter((sampleOf) => sampleOf > 0);
      expect(passed.length).toBeLessThanOrEqual(500 + 50 * 5);
    }),
    { numRuns: 20 },
  );
});

test('sampling bucket: the sample of a flood is spread over the flood and represents all of it', () => {
  const taken = flood(20_000, 20);
  const perSecond = Array.from({ length: 20 }, (_, s) => taken.slice(s * 20_000, (s + 1) * 20_000));
  for (const second of perSecond.slice(5)) {
    const passed = second.filter((sampleOf) => sampleOf > 0).length;
    expect(passed).toBeGreaterThan(250);
    expect(passed).toBeLessThan(1_000);
  }
  const total = taken.reduce((sum, sampleOf) => sum + sampleOf, 0);
  expect(total / taken.length).toBeGreaterThan(0.9);
  expect(total / taken.length).toBeLessThan(1.1);
});

test('sampling bucket: in the same flood, a bucket of twice the rate takes nearly all that the smaller bucket takes', () => {
  const sparse = flood(20_000, 20);
  const dense = flood(20_000, 20, { perSecondMax: 1_000, burstMax: 20_000 });
  const passed = sparse.flatMap((sampleOf, index) => (sampleOf > 0 ? [index] : []));
  const missed = passed.filter((index) => dense[index] === 0);
  expect(missed.length / passed.length).toBeLessThan(0.02);
});

test('sampling bucket: a clock that goes back does not refill the bucket', () => {
  const bucket = createSamplingBucket({ perSecondMax: 1_000, burstMax: 4 }, 10_000);
  for (let n = 0; n < 4; n += 1) bucket.take(() => 0, 10_000);
  expect(bucket.take(() => 0, 0)).toBe(0);
  expect(bucket.take(() => 0, 10_000)).toBe(0);
  expect(bucket.take(() => 0, 10_004)).toBe(1);
});

test('sampling buckets: each key has its own bucket', () => {
  const buckets = createSamplingBuckets({ perSecondMax: 1, burstMax: 1 });
  expect(buckets.of('a', 0).take(() => 0, 0)).toBe(1);
  expect(buckets.of('a', 0).take(() => 0, 0)).toBe(0);
  expect(buckets.of('b', 0).take(() => 0, 0)).toBe(1);
});
