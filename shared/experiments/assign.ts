import { allocationBucket, variantAt, variantBucket } from './bucketing.ts';
import type { ExperimentVariant } from './experiment-bodies.ts';
import type { ExperimentPlan, PlannedExperiment } from './experiment-plan.ts';
import type { Page, PageContext } from './page.ts';
import { readPage } from './page.ts';
import type { Work } from '../routing/values/work.ts';

/** Ids of the variants to which the visitor was permanently assigned, by experiment id. */
export type Assignments = ReadonlyMap<string, string>;

export type AssignmentRequest = {
  readonly experimentKey: string;
  readonly visitorId: string;
  /** False returns the assignment without recording an impression. */
  readonly trackImpression: boolean;
  readonly context: PageContext | undefined;
};

export type NotAssignedReason = 'unknown' | 'completed' | 'paused' | 'notEligible' | 'outsideAllocation';

/** The origin of a visitor's variant: assigned now, kept from an earlier assignment, or rolled out to all. */
export type AssignmentOrigin = 'new' | 'sticky' | 'rollout';

export type Placement =
  | { readonly assigned: true; readonly variant: ExperimentVariant; readonly origin: AssignmentOrigin }
  | { readonly assigned: false; readonly reason: NotAssignedReason };

export type AssignmentDecision =
  | {
      readonly assigned: true;
      readonly experiment: PlannedExperiment;
      readonly variant: ExperimentVariant;
      readonly origin: AssignmentOrigin;
      /** The assignment to store with the visitor; an existing assignment takes precedence. */
      readonly store: { readonly experimentId: string; readonly variantId: string } | undefined;
      /** Whether this call records an impression. */
      readonly impressionDue: boolean;
    }
  | { readonly assigned: false; readonly reason: NotAssignedReason };

/**
 * Decides an assignment. A first assignment must be stored whether or not an impression is recorded, since the caller
 * may show the variant either way. Throws OverBudgetError if checking the page would exceed `work`.
 */
export function assign(
  plan: ExperimentPlan,
  request: AssignmentRequest,
  assignments: Assignments,
  work?: Work,
): AssignmentDecision {
  const { visitorId, trackImpression } = request;
  const experiment = plan.byKey.get(request.experimentKey);
  if (experiment === undefined) return { assigned: false, reason: 'unknown' };
  const placement = placeVisitor(
    experiment,
    visitorId,
    assignments.get(experiment.id),
    readPage(request.context, work),
  );
  if (!placement.assigned) return placement;
  const { variant, origin } = placement;
  const store = origin === 'new' ? { experimentId: experiment.id, variantId: variant.id } : undefined;
  return { assigned: true, experiment, variant, origin, store, impressionDue: trackImpression };
}

/**
 * A visitor's place in an experiment on a page. A page that is not eligible rules the experiment out for this call
 * only: an earlier assignment stays. A sticky variant that no longer exists is ignored.
 */
function placeVisitor(
  experiment: PlannedExperiment,
  visitorId: string,
  stickyVariantId: string | undefined,
  page: Page,
): Placement {
  const { id, status, rollout } = experiment;
  page.work?.spend(unitsOfPlacement + visitorId.length);
  if (status === 'Completed' && rollout === undefined) return { assigned: false, reason: 'completed' };
  if (!experiment.isEligible(page)) return { assigned: false, reason: 'notEligible' };
  if (rollout !== undefined) return { assigned: true, variant: rollout, origin: 'rollout' };
  const sticky = stickyVariantId === undefined ? undefined : experiment.variants.get(stickyVariantId);
  if (sticky !== undefined) return { assigned: true, variant: sticky, origin: 'sticky' };
  if (status === 'Paused') return { assigned: false, reason: 'paused' };
  if (allocationBucket(id, visitorId) >= experiment.allocationEnd)
    return { assigned: false, reason: 'outsideAllocation' };
  const variant = variantAt(experiment.ranges, variantBucket(id, visitorId));
  // Undefined only without a control, which every published experiment has.
  if (variant === undefined) return { assigned: false, reason: 'outsideAllocation' };
  return { assigned: true, variant, origin: 'new' };
}

/** Units of work to assign a visitor, without page checks and without hashing the visitor's id. */
const unitsOfPlacement = 50;

/** A visitor's active variant. */
type PersonalizedBy = {
  readonly experiment: PlannedExperiment;
  readonly variant: ExperimentVariant;
  readonly origin: AssignmentOrigin;
};

export type Personalization = {
  /** The properties to set on a page. If two variants set the same name, the later one in `by` wins. */
  readonly properties: Readonly<Record<string, string>>;
  readonly by: readonly PersonalizedBy[];
};

/**
 * The visitor's variants and their properties: from running personalizations, which are always on, from earlier
 * assignments, and from variants rolled out to all. Makes no assignment. If several variants set a property, a test
 * wins over a personalization, then the greater id wins. Throws like `assign`.
 */
export function personalizeVisitor(
  plan: ExperimentPlan,
  visitorId: string,
  assignments: Assignments,
  context: PageContext | undefined,
  work?: Work,
): Personalization {
  const page = readPage(context, work);
  const by = plan.inOrder.flatMap((experiment): PersonalizedBy[] => {
    const placement = placeVisitor(experiment, visitorId, assignments.get(experiment.id), page);
    if (!placement.assigned) return [];
    if (placement.origin === 'new' && experiment.type !== 'personalization') return [];
    return [{ experiment, variant: placement.variant, origin: placement.origin }];
  });
  return { properties: Object.fromEntries(by.flatMap(({ variant }) => Object.entries(variant.properties))), by };
}
