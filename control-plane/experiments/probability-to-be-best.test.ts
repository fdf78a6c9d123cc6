import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { probabilityToBeBest } from './probability-to-be-best.ts';

test('probability to be best: is the same for all variants if there are no visitors or the results are equal', () => {
  expect(probabilityToBeBest([])).toEqual([]);
  expect(probabilityToBeBest([{ visitors: 0, conversions: 0 }])).toEqual([1]);
  for (const share of probabilityToBeBest(Array.from({ length: 3 }, () => ({ visitors: 900, conversions: 90 })))) {
    expect(share).toBeCloseTo(1 / 3, 6);
  }
});

test('probability to be best: agrees with a value known in closed form', () => {
  // Both priors are uniform, and one variant converted its only visitor. Its probability is the integral of 2x · x from
  // 0 to 1, which is 2/3.
  const [seen, unseen] = probabilityToBeBest([
    { visitors: 1, conversions: 1 },
    { visitors: 0, conversions: 0 },
  ]);
  expect(seen).toBeCloseTo(2 / 3, 4);
  expect(unseen).toBeCloseTo(1 / 3, 4);
});

test('probability to be best: is near 1 for rates that are far apart, and works for very unequal numbers of visitors', () => {
  const crowd = { visitors: 1_000_000, conversions: 100_000 };
  expect(probabilityToBeBest([crowd, { visitors: 1_000_000, conversions: 110_000 }])[1]).toBeGreaterThan(0.999_999);
  const [ofCrowd = 0, ofFew = 0] = probabilityToBeBest([crowd, { visitors: 10, conversions: 1 }]);
  expect(ofCrowd + ofFew).toBeCloseTo(1, 9);
  expect(ofFew).toBeGreaterThan(0.5);
});

test('probability to be best: sums to 1, and never falls with more conversions of the same number of visitors', () => {
  const visitors = 500;
  const many = fc.array(fc.integer({ min: 0, max: visitors }), { minLength: 2, maxLength: 4 });
  fc.assert(
    fc.property(many, (conversions) => {
      const shares = probabilityToBeBest(conversions.map((each) => ({ visitors, conversions: each })));
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9);
      const order = conversions
        .map((each, index) => ({ each, share: shares[index] ?? 0 }))
        .toSorted((a, b) => a.each - b.each);
      for (const [index, { share }] of order.entries()) {
        expect(share).toBeGreaterThanOrEqual((order[index - 1]?.share ?? 0) - 1e-6);
      }
    }),
    { numRuns: 50 },
  );
});
