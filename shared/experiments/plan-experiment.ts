import { PlanError } from '../routing/values/plan-error.ts';
import { bucketsInAll, bucketsOfPercent, rangeVariants } from './bucketing.ts';
import type { VariantRange } from './bucketing.ts';
import { compileEligibility } from './eligibility.ts';
import type { Eligibility } from './eligibility.ts';
import type { ExperimentBody, ExperimentStatus, ExperimentType, ExperimentVariant } from './experiment-bodies.ts';
import { checkVariants } from './validate-experiment.ts';

/** An experiment that was started, ready to place visitors. */
export type PlannedExperiment = {
  readonly id: string;
  readonly key: string;
  readonly name: string;
  readonly type: ExperimentType;
  readonly status: Exclude<ExperimentStatus, 'Draft'>;
  /** Visitors whose allocation bucket is below it take part. */
  readonly allocationEnd: number;
  readonly ranges: readonly VariantRange<ExperimentVariant>[];
  readonly variants: ReadonlyMap<string, ExperimentVariant>;
  /** The variant of every visitor, once the experiment is completed. */
  readonly rollout: ExperimentVariant | undefined;
  readonly isEligible: Eligibility;
  /** Name of the event that counts as a conversion. */
  readonly metricEvent: string | undefined;
};

/** What becomes of an experiment of a version, which should hold no draft. */
export type Planned =
  | { readonly kind: 'planned'; readonly experiment: PlannedExperiment }
  | { readonly kind: 'unplanned'; readonly problem: string }
  | { readonly kind: 'draft' };

/** Compiles an experiment with its variants, as they were published. */
export function planExperiment(
  body: ExperimentBody & { readonly id: string },
  variants: readonly ExperimentVariant[],
): Planned {
  const { key, name, type, status } = body;
  if (status === 'Draft') return { kind: 'draft' };
  const wrong = checkVariants(body, variants)[0];
  if (wrong !== undefined) return { kind: 'unplanned', problem: `${wrong.field} ${wrong.problem}` };
  const isEligible = tryCompileEligibility(body.urlPatterns, body.queryRules);
  if (isEligible instanceof PlanError) return { kind: 'unplanned', problem: isEligible.message };
  const experiment: PlannedExperiment = {
    id: body.id,
    key,
    name,
    type,
    status,
    allocationEnd: type === 'personalization' ? bucketsInAll : bucketsOfPercent(body.trafficAllocation),
    ranges: rangeVariants(variants),
    variants: new Map(variants.map((variant) => [variant.id, variant])),
    rollout: status === 'Completed' ? variants.find(({ id }) => id === body.rolloutVariantId) : undefined,
    isEligible,
    metricEvent: body.primaryMetric?.event,
  };
  return { kind: 'planned', experiment };
}

function tryCompileEligibility(...rules: Parameters<typeof compileEligibility>): Eligibility | PlanError {
  try {
    return compileEligibility(...rules);
  } catch (error) {
    if (error instanceof PlanError) return error;
    throw error;
  }
}
