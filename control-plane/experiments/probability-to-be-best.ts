/** Visitors of a variant, and how many of them converted. */
export type Trials = { readonly visitors: number; readonly conversions: number };

/**
 * The probability that each variant has the highest conversion rate. The prior of each rate is uniform, so the
 * posterior is a Beta distribution with parameters conversions + 1 and visitors without conversion + 1. The
 * probabilities sum to 1; without visitors all are equal.
 */
export function probabilityToBeBest(variants: readonly Trials[]): readonly number[] {
  const rates = variants.map(distributionOf);
  const likely = rates.map((own, index) => {
    const others = rates.filter((_, other) => other !== index);
    return own.points.reduce(
      (sum, { rate, mass }) => sum + mass * productOf(others.map(({ below }) => below(rate))),
      0,
    );
  });
  const total = likely.reduce((sum, one) => sum + one, 0);
  return likely.map((one) => (total === 0 ? 1 / variants.length : one / total));
}

/** The distribution of a rate, whose range is divided into equally wide intervals. */
type Distribution = {
  readonly points: readonly { readonly rate: number; readonly mass: number }[];
  /** The probability that the rate of the variant is lower than `rate`. */
  below(rate: number): number;
};

const pointsPerVariant = 1_024;
/** Number of standard deviations covered on each side; the probability beyond them is less than one in a billion. */
const deviations = 8;

function distributionOf({ visitors, conversions }: Trials): Distribution {
  const a = 1 + conversions;
  const b = 1 + Math.max(visitors - conversions, 0);
  const mean = a / (a + b);
  const deviation = Math.sqrt((mean * (1 - mean)) / (a + b + 1));
  const from = Math.max(0, mean - deviations * deviation);
  const to = Math.min(1, mean + deviations * deviation);
  const step = (to - from) / pointsPerVariant;
  // Evaluated in the middle of each interval, so never at 0 or 1. Logarithms are used, since the densities for many
  // visitors overflow.
  const middles = Array.from({ length: pointsPerVariant }, (_, index) => from + (index + 0.5) * step);
  const logs = middles.map((rate) => (a - 1) * Math.log(rate) + (b - 1) * Math.log1p(-rate));
  const highest = logs.reduce((max, log) => Math.max(max, log), Number.NEGATIVE_INFINITY);
  const weights = logs.map((log) => Math.exp(log - highest));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const points = middles.map((rate, index) => ({ rate, mass: (weights[index] ?? 0) / total }));
  let sum = 0;
  const upTo = points.map(({ mass }) => (sum += mass));
  return {
    points,
    below(rate) {
      if (rate <= from) return 0;
      if (rate >= to) return 1;
      const place = (rate - from) / step;
      const index = Math.min(Math.floor(place), pointsPerVariant - 1);
      return (upTo[index - 1] ?? 0) + (place - index) * (points[index]?.mass ?? 0);
    },
  };
}

function productOf(factors: readonly number[]): number {
  return factors.reduce((product, factor) => product * factor, 1);
}
