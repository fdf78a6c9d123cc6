import { murmur3 } from '../runtime/murmur3.ts';

/** The number of buckets; one bucket is a hundredth of a percent. */
export const bucketsInAll = 10_000;

/**
 * The visitor's bucket for traffic allocation; visitors with a bucket below the allocation take part. The algorithm,
 * with test vectors, is published in BUCKETING.md beside this file. Changing the algorithm moves visitors to other
 * variants.
 */
export function allocationBucket(experimentId: string, visitorId: string): number {
  return bucketOf(`${experimentId}:allocation:${visitorId}`);
}

/**
 * The bucket that chooses the visitor's variant: the hash of another text, and thus independent of the allocation
 * bucket.
 */
export function variantBucket(experimentId: string, visitorId: string): number {
  return bucketOf(`${experimentId}:variant:${visitorId}`);
}

/** The number of buckets of a percentage with up to two decimals: 1250 for 12.5. */
export function bucketsOfPercent(percent: number): number {
  return Math.round(percent * 100);
}

export type Weighted = {
  readonly id: string;
  readonly isControl: boolean;
  /** Percent of the participating visitors; a control receives the rest, whatever its own weight. */
  readonly weight: number | null;
};

/** A variant's buckets run from the end of the previous variant to its own end, exclusive. */
export type VariantRange<Variant extends Weighted> = { readonly variant: Variant; readonly end: number };

/** Variants with their bucket ranges, in order of their ids. The control is last and has all remaining buckets. */
export function rangeVariants<Variant extends Weighted>(variants: readonly Variant[]): VariantRange<Variant>[] {
  const ordered = variants.toSorted((a, b) => Number(a.isControl) - Number(b.isControl) || (a.id < b.id ? -1 : 1));
  let end = 0;
  return ordered.map((variant) => {
    end = variant.isControl ? bucketsInAll : Math.min(bucketsInAll, end + bucketsOfPercent(variant.weight ?? 0));
    return { variant, end };
  });
}

/** The variant whose range contains the bucket; undefined only if there is no control for the remaining buckets. */
export function variantAt<Variant extends Weighted>(
  ranges: readonly VariantRange<Variant>[],
  bucket: number,
): Variant | undefined {
  for (const { variant, end } of ranges) {
    if (bucket < end) return variant;
  }
  return undefined;
}

// A hash is below 2^32 and the product below 2^46, which a double represents exactly; so is the quotient.
function bucketOf(text: string): number {
  return Math.floor((murmur3(text) * bucketsInAll) / 2 ** 32);
}
