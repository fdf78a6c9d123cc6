import { assert, integer, property, string, uniqueArray } from 'fast-check';
import { expect, test } from 'vitest';
import { allocationBucket, bucketsInAll, bucketsOfPercent, rangeVariants, variantAt } from './bucketing.ts';
import { variantBucket } from './bucketing.ts';
import { anyText } from '../testing/any-text.ts';

test('buckets: every percentage with two decimals is a whole number of buckets', () => {
  for (let buckets = 0; buckets <= bucketsInAll; buckets += 1) expect(bucketsOfPercent(buckets / 100)).toBe(buckets);
});

test('buckets: every visitor has an allocation bucket and a variant bucket', () => {
  assert(
    property(string(), anyText(), (experimentId, visitorId) => {
      for (const bucket of [allocationBucket(experimentId, visitorId), variantBucket(experimentId, visitorId)]) {
        expect(Number.isInteger(bucket) && bucket >= 0 && bucket < bucketsInAll).toBe(true);
      }
    }),
  );
});

test('ranges: variants are in order of id, and the control gets the remaining buckets', () => {
  const variants = [
    { id: 'b', isControl: false, weight: 20 },
    { id: 'a-control', isControl: true, weight: 5 },
    { id: 'a', isControl: false, weight: 33.33 },
    { id: 'c', isControl: false, weight: null },
  ];
  const ranges = rangeVariants(variants);
  expect(ranges.map(({ variant, end }) => [variant.id, end])).toEqual([
    ['a', 3333],
    ['b', 5333],
    ['c', 5333],
    ['a-control', 10_000],
  ]);
  const at = (bucket: number): string | undefined => variantAt(ranges, bucket)?.id;
  expect([0, 3332, 3333, 5332, 5333, 9999].map(at)).toEqual(['a', 'a', 'b', 'b', 'a-control', 'a-control']);
});

test('ranges: a variant has as many buckets as its weight says, whatever the order of the list', () => {
  const weights = uniqueArray(integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 8 });
  assert(
    property(weights, (given) => {
      const variants = given.map((weight) => ({ id: `v${String(weight)}`, isControl: false, weight: weight / 100 }));
      const all = [{ id: 'control', isControl: true, weight: null }, ...variants];
      const counts = new Map<string, number>();
      const ranges = rangeVariants(all);
      for (let bucket = 0; bucket < bucketsInAll; bucket += 1) {
        const id = variantAt(ranges, bucket)?.id ?? 'none';
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
      for (const { id, weight } of variants) expect(counts.get(id) ?? 0).toBe(bucketsOfPercent(weight));
      expect(rangeVariants(all.toReversed())).toEqual(ranges);
    }),
    { numRuns: 30 },
  );
});

test('ranges: without a control, the buckets that the weights leave over have no variant', () => {
  const ranges = rangeVariants([{ id: 'only', isControl: false, weight: 40 }]);
  expect(variantAt(ranges, 3999)?.id).toBe('only');
  expect(variantAt(ranges, 4000)).toBeUndefined();
});
