export type SearchOptions = {
  /** First estimate, such as the rate delivered when more is sent than can be accepted. */
  readonly guessPerS: number;
  /** Number of rates to try. */
  readonly steps: number;
  /** Whether deliveries keep up with a rate. */
  holds(ratePerS: number): Promise<boolean>;
};

/** One rate that was tried. */
export type Trial = { readonly ratePerS: number; readonly isHeld: boolean };

export type Sustained = {
  /** The highest rate that held; 0 if no rate held. */
  readonly ratePerS: number;
  readonly trials: readonly Trial[];
};

const firstShare = 0.8;
const stepUp = 2;
const stepDown = 0.5;

/**
 * Searches for the highest rate that holds. The search begins slightly below the estimate, goes up until a rate fails
 * or down until a rate holds, and then tries the rate half-way between the two nearest.
 */
export async function findSustained({ guessPerS, steps, holds }: SearchOptions): Promise<Sustained> {
  const trials: Trial[] = [];
  let low = 0;
  let high = Number.POSITIVE_INFINITY;
  let ratePerS = guessPerS * firstShare;
  for (let step = 0; step < steps; step += 1) {
    const isHeld = await holds(ratePerS);
    trials.push({ ratePerS, isHeld });
    if (isHeld) low = ratePerS;
    else high = ratePerS;
    if (low === 0) ratePerS = high * stepDown;
    else ratePerS = high === Number.POSITIVE_INFINITY ? low * stepUp : (low + high) / 2;
  }
  return { ratePerS: low, trials };
}

/** The rates that were tried, round by round, and whether each rate held. */
export function describeTrials(rounds: readonly (readonly Trial[])[]): string {
  const thousands = (perS: number): string => (perS / 1000).toFixed(perS < 10_000 ? 1 : 0);
  const tried = rounds.map((trials) =>
    trials.map(({ ratePerS, isHeld }) => `${thousands(ratePerS)}${isHeld ? '✓' : '✗'}`).join(' '),
  );
  return `tried, in thousands: ${tried.join('; ')}`;
}
