/** A histogram in plain numbers, cheap enough to count every event; read at a scrape. */
export class BucketCounts {
  readonly #bounds: Float64Array;
  /** Counts by bucket, of which the last has the values above all bounds; then the sum of all values. */
  readonly #numbers: Float64Array;

  /** `bounds` must rise; a value equal to a bound counts in the bucket that ends there. */
  constructor(bounds: readonly number[]) {
    this.#bounds = Float64Array.from(bounds);
    this.#numbers = new Float64Array(bounds.length + 2);
  }

  observe(value: number, times = 1): void {
    const bounds = this.#bounds;
    const numbers = this.#numbers;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    numbers[bucket] = (numbers[bucket] ?? 0) + times;
    const sum = bounds.length + 1;
    numbers[sum] = (numbers[sum] ?? 0) + value * times;
  }

  /** The counts as plain numbers that can be sent to another thread, or added up. Not a copy. */
  get numbers(): BucketNumbers {
    return this.#numbers;
  }
}

/** Counts by bucket (one more than there are bounds), then the sum of all values. */
export type BucketNumbers = ArrayLike<number>;

/** Adds a histogram to `into`, which has the same bounds, and returns `into`; without `into`, a copy of `more`. */
export function addNumbers(into: Float64Array | undefined, more: BucketNumbers): Float64Array {
  if (into === undefined) return Float64Array.from(more);
  for (let i = 0; i < into.length; i += 1) into[i] = (into[i] ?? 0) + (more[i] ?? 0);
  return into;
}
