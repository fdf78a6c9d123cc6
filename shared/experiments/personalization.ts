import { placeVisitor } from './assign.ts';
import type { Assignments } from './assign.ts';
import type { ExperimentVariant } from './experiment-bodies.ts';
import type { ExperimentPlan } from './experiment-plan.ts';
import { readPage } from './page.ts';
import type { PageContext } from './page.ts';
import type { PlannedExperiment } from './plan-experiment.ts';

/** A variant that counts for a visitor. */
export type PersonalizedBy = { readonly experiment: PlannedExperiment; readonly variant: ExperimentVariant };

export type Personalization = {
  /** The properties a page is to have. Where two variants give one of the same name, the later of `by` wins. */
  readonly properties: Readonly<Record<string, string>>;
  readonly by: readonly PersonalizedBy[];
};

/**
 * The visitor's variants and their properties: of running personalizations, which are always on, of assignments made
 * before, and of variants rolled out to everybody. It makes no assignment. A test wins over a personalization, then the
 * greater id.
 */
export function personalizeVisitor(
  plan: ExperimentPlan,
  visitorId: string,
  assignments: Assignments,
  context: PageContext | undefined,
): Personalization {
  const page = readPage(context);
  const by = plan.inOrder.flatMap((experiment): PersonalizedBy[] => {
    const placement = placeVisitor(experiment, visitorId, assignments.get(experiment.id), page);
    if (!placement.assigned) return [];
    if (placement.origin === 'new' && experiment.type !== 'personalization') return [];
    return [{ experiment, variant: placement.variant }];
  });
  return { properties: Object.fromEntries(by.flatMap(({ variant }) => Object.entries(variant.properties))), by };
}
