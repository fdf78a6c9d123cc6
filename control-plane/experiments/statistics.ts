import jStat from 'jstat';

export type Interval = { readonly low: number; readonly high: number };

/**
 * The interval a rate lies in with the given confidence, after Wilson: it stays within 0 and 1, and holds for few
 * visitors and for rates near either end, where the normal approximation does not. Undefined without trials.
 * Wilson, E. B. (1927), Probable inference, the law of succession, and statistical inference.
 */
export function wilsonInterval(successes: number, trials: number, confidence: number): Interval | undefined {
  if (trials === 0) return undefined;
  const z = jStat.normal.inv(1 - (1 - confidence) / 2, 0, 1);
  const rate = successes / trials;
  const scale = 1 + z ** 2 / trials;
  const centre = rate + z ** 2 / (2 * trials);
  const reach = z * Math.sqrt((rate * (1 - rate)) / trials + z ** 2 / (4 * trials ** 2));
  // At either end the exact value is the end; rounding may miss it by the last digit.
  return {
    low: successes === 0 ? 0 : (centre - reach) / scale,
    high: successes === trials ? 1 : (centre + reach) / scale,
  };
}

export type RatioTest = { readonly chiSquare: number; readonly degreesOfFreedom: number; readonly pValue: number };

/** Below this many expected visitors in a group the test's approximation does not hold. */
const expectedMin = 5;

/**
 * Pearson's chi-square test of whether visitors are spread as their shares say: how likely a spread at least as uneven
 * is by chance. Groups without a share stay out. Undefined with fewer than two groups, or too few visitors to tell.
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
