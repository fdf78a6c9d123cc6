import { rangeVariants } from '../../shared/experiments/bucketing.ts';
import type { VariantCount } from '../../shared/visitors/count-results.ts';
import type { ExperimentBody, ExperimentVariant } from '../../shared/experiments/experiment-bodies.ts';
import { testSampleRatio, wilsonInterval } from './statistics.ts';

/** An experiment as it runs, or as it is drafted where it does not run yet. */
export type MeasuredExperiment = {
  readonly id: string;
  readonly body: ExperimentBody;
  readonly variants: readonly ExperimentVariant[];
};

/** Below this probability a spread is no chance any more: the convention for this test. */
const mismatchBelow = 0.001;

/** What an experiment's counts say, ready to be read. Variants stand in the order in which they are bucketed. */
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
