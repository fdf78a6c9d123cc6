export type SearchOptions = {
  /** A first guess: what was delivered under more load than can be taken. */
  readonly guessPerS: number;
  /** Rates tried. */
  readonly steps: number;
  /** Whether deliveries keep up with this rate. */
  holds(ratePerS: number): Promise<boolean>;
};

const firstShare = 0.8;
const stepUp = 1.3;

/**
 * The highest rate found that holds: up by steps from somewhat below the guess until one does not hold, then half-way
 * between the last two. 0 when none held.
 */
export async function findSustained({ guessPerS, steps, holds }: SearchOptions): Promise<number> {
  let low = 0;
  let high = Number.POSITIVE_INFINITY;
  let ratePerS = guessPerS * firstShare;
  for (let step = 0; step < steps; step += 1) {
    if (await holds(ratePerS)) low = ratePerS;
    else high = ratePerS;
    ratePerS = high === Number.POSITIVE_INFINITY ? low * stepUp : (low + high) / 2;
  }
  return low;
}
