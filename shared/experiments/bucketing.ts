import { murmur3 } from '../runtime/murmur3.ts';

/** The whole is cut into this many buckets, so one bucket is a hundredth of a percent. */
export const bucketsInAll = 10_000;

/**
 * The bucket a visitor falls in when an experiment's traffic is allocated; below the allocation means inside.
 * The algorithm, with test vectors, is published in BUCKETING.md beside this file: a change here moves visitors.
 */
export function allocationBucket(experimentId: string, visitorId: string): number {
  return bucketOf(`${experimentId}:allocation:${visitorId}`);
}

/** The bucket that chooses a visitor's variant; another text is hashed, so that it does not depend on the allocation. */
export function variantBucket(experimentId: string, visitorId: string): number {
  return bucketOf(`${experimentId}:variant:${visitorId}`);
}

/** Buckets of a percentage of at most two decimals: 12.5 is 1250. */
export function bucketsOfPercent(percent: number): number {
  return Math.round(percent * 100);
}

export type Weighted = {
  readonly id: string;
  readonly isControl: boolean;
  /** Percent of the visitors inside; a control takes what the others leave, whatever its own weight. */
  readonly weight: number | null;
};

/** A variant has the buckets from the end of the one before it up to its own end, which is outside. */
export type VariantRange<Variant extends Weighted> = { readonly variant: Variant; readonly end: number };

/** Variants with their ranges of buckets: by id, the control last up to the end of all. */
export function rangeVariants<Variant extends Weighted>(variants: readonly Variant[]): VariantRange<Variant>[] {
  const ordered = variants.toSorted((a, b) => Number(a.isControl) - Number(b.isControl) || (a.id < b.id ? -1 : 1));
  let end = 0;
  return ordered.map((variant) => {
    end = variant.isControl ? bucketsInAll : Math.min(bucketsInAll, end + bucketsOfPercent(variant.weight ?? 0));
    return { variant, end };
  });
}

/** The variant whose range holds the bucket; undefined only where there is no control to take the rest. */
export function variantAt<Variant extends Weighted>(
  ranges: readonly VariantRange<Variant>[],
  bucket: number,
): Variant | undefined {
  for (const { variant, end } of ranges) {
    if (bucket < end) return variant;
  }
  return undefined;
}

// A hash is below 2^32 and the product below 2^46: exact in a double, as is the division by a power of two.
function bucketOf(text: string): number {
  return Math.floor((murmur3(text) * bucketsInAll) / 2 ** 32);
}
