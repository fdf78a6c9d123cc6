import jStat from 'jstat';
import { rangeVariants } from '../../shared/experiments/bucketing.ts';
import type { VariantCount } from '../../shared/visitors/count-results.ts';
import type { ExperimentBody, ExperimentVariant } from '../../shared/experiments/experiment-bodies.ts';

/** An experiment of the live version, or of the draft before it is published. */
export type MeasuredExperiment = {
  readonly id: string;
  readonly body: ExperimentBody;
  readonly variants: readonly ExperimentVariant[];
};

/**
 * A split of visitors that is less probable than this counts as a mismatch; this is the usual threshold of a
 * sample-ratio test.
 */
const mismatchBelow = 0.001;

/** Statistics of an experiment's counts, with the variants in the order of bucketing. */
export function summarizeResults(
  { id, body, variants }: MeasuredExperiment,
  counts: readonly VariantCount[],
  confidencePercent: number,
) {
  const countOf = new Map(counts.map((count) => [count.variantId, count]));
  let from = 0;
  const groups = rangeVariants(variants).map(({ variant, end }) => {
    const { visitors, conversions } = countOf.get(variant.id) ?? { visitors: 0, conversions: 0 };
    const share = (end - from) / 100;
    from = end;
    return { variant, share, visitors, conversions };
  });
  const test = testSampleRatio(groups);
  return {
    experimentId: id,
    key: body.key,
    name: body.name,
    type: body.type,
    status: body.status,
    primaryMetric: body.primaryMetric,
    confidencePercent,
    visitors: groups.reduce((sum, { visitors }) => sum + visitors, 0),
    conversions: groups.reduce((sum, { conversions }) => sum + conversions, 0),
    variants: groups.map(({ variant, share, visitors, conversions }) => ({
      id: variant.id,
      name: variant.name,
      isControl: variant.isControl,
      expectedShare: share,
      visitors,
      conversions,
      conversionRate: visitors === 0 ? null : conversions / visitors,
      confidenceInterval: wilsonInterval(conversions, visitors, confidencePercent / 100) ?? null,
    })),
    sampleRatio: test === undefined ? null : { ...test, isMismatch: test.pValue < mismatchBelow },
  };
}

type Interval = { readonly low: number; readonly high: number };

/**
 * Wilson's score interval of a rate. It stays within 0 and 1, and is valid for few visitors and for rates near 0 and 1,
 * where the normal approximation is not. Undefined without trials. Wilson, E. B. (1927), Probable inference, the law of
 * succession, and statistical inference.
 */
export function wilsonInterval(successes: number, trials: number, confidence: number): Interval | undefined {
  if (trials === 0) return undefined;
  const z = jStat.normal.inv(1 - (1 - confidence) / 2, 0, 1);
  const rate = successes / trials;
  const scale = 1 + z ** 2 / trials;
  const centre = rate + z ** 2 / (2 * trials);
  const reach = z * Math.sqrt((rate * (1 - rate)) / trials + z ** 2 / (4 * trials ** 2));
  // At 0 and 1 the bound is known exactly, but rounding may change its last digit.
  return {
    low: successes === 0 ? 0 : (centre - reach) / scale,
    high: successes === trials ? 1 : (centre + reach) / scale,
  };
}

type RatioTest = { readonly chiSquare: number; readonly degreesOfFreedom: number; readonly pValue: number };

/** Minimum number of expected visitors per group for which the approximation of the test is valid. */
const expectedMin = 5;

/**
 * Pearson's chi-square test of whether visitors are split according to the weights. It returns the probability that a
 * split at least as uneven happens by chance. Groups without a weight are excluded. Undefined with fewer than two
 * groups, or too few visitors.
 */
export function testSampleRatio(
  groups: readonly { readonly visitors: number; readonly share: number }[],
): RatioTest | undefined {
  const meant = groups.filter(({ share }) => share > 0);
  const visitors = meant.reduce((sum, group) => sum + group.visitors, 0);
  const shares = meant.reduce((sum, { share }) => sum + share, 0);
  if (meant.length < 2 || meant.some(({ share }) => (visitors * share) / shares < expectedMin)) return undefined;
  const chiSquare = meant.reduce((sum, group) => {
    const expected = (visitors * group.share) / shares;
    return sum + (group.visitors - expected) ** 2 / expected;
  }, 0);
  const degreesOfFreedom = meant.length - 1;
  return { chiSquare, degreesOfFreedom, pValue: Math.max(0, 1 - jStat.chisquare.cdf(chiSquare, degreesOfFreedom)) };
}
