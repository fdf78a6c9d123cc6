import fc from 'fast-check';
import { expect, test } from 'vitest';
import { testSampleRatio, wilsonInterval } from './summarize-results.ts';

// The expected values were computed independently of this code, with the normal quantiles of Python's statistics
// module.
test.each([
  [15, 100, 0.95, 0.093_06, 0.232_84],
  [0, 10, 0.95, 0, 0.277_53],
  [10, 10, 0.95, 0.722_47, 1],
  [1, 2, 0.95, 0.094_53, 0.905_47],
  [500, 10_000, 0.99, 0.044_67, 0.055_91],
])('wilson interval: %i of %i at %f', (successes, trials, confidence, low, high) => {
  const interval = wilsonInterval(successes, trials, confidence);
  expect(interval?.low).toBeCloseTo(low, 4);
  expect(interval?.high).toBeCloseTo(high, 4);
});

test('wilson interval: contains the rate, lies within 0 and 1, and narrows with more visitors', () => {
  const counts = fc
    .integer({ min: 1, max: 1_000_000 })
    .chain((trials) => fc.tuple(fc.integer({ min: 0, max: trials }), fc.constant(trials)));
  fc.assert(
    fc.property(counts, ([successes, trials]) => {
      const one = wilsonInterval(successes, trials, 0.95);
      const more = wilsonInterval(successes * 10, trials * 10, 0.95);
      if (one === undefined || more === undefined) throw new Error('there were trials');
      expect(one.low).toBeGreaterThanOrEqual(0);
      expect(one.high).toBeLessThanOrEqual(1);
      expect(one.low).toBeLessThanOrEqual(successes / trials);
      expect(one.high).toBeGreaterThanOrEqual(successes / trials);
      expect(more.high - more.low).toBeLessThan(one.high - one.low);
    }),
  );
  expect(wilsonInterval(0, 0, 0.95)).toBeUndefined();
});

// Also computed independently: the tail is erfc(sqrt(x / 2)) with one degree of freedom and exp(-x / 2) with two.
test.each([
  [[5_000, 5_000], [50, 50], 0, 1],
  [[5_100, 4_900], [50, 50], 4, 0.045_5],
  [[821_588, 815_482], [50, 50], 22.774, 1.8e-6],
  [[100, 200, 310], [1, 2, 3], 0.163_93, 0.921_3],
])('sample ratio: %j against %j', (visitors, shares, chiSquare, pValue) => {
  const result = testSampleRatio(visitors.map((count, index) => ({ visitors: count, share: shares[index] ?? 0 })));
  expect(result?.chiSquare).toBeCloseTo(chiSquare, 2);
  expect(result?.pValue).toBeCloseTo(pValue, 3);
  expect(result?.degreesOfFreedom).toBe(visitors.length - 1);
});

test('sample ratio: undefined for too few visitors, and for fewer than two groups with a weight', () => {
  expect(
    testSampleRatio([
      { visitors: 3, share: 50 },
      { visitors: 4, share: 50 },
    ]),
  ).toBeUndefined();
  expect(testSampleRatio([{ visitors: 1_000, share: 100 }])).toBeUndefined();
  expect(
    testSampleRatio([
      { visitors: 1_000, share: 100 },
      { visitors: 1_000, share: 0 },
    ]),
  ).toBeUndefined();
});
