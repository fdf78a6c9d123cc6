import { placeVisitor } from './assign.ts';
import type { Assignments } from './assign.ts';
import type { ExperimentPlan } from './experiment-plan.ts';
import { readPage } from './page.ts';
import type { PageContext } from './page.ts';

/**
 * The properties a page is to have for a visitor, gathered from the visitor's variants: of running personalizations,
 * which are always on, of assignments made before, and of variants rolled out to everybody. It makes no assignment.
 * Where two experiments give a property of the same name, one that is no personalization wins, then the greater id.
 */
export function accumulateProperties(
  plan: ExperimentPlan,
  visitorId: string,
  assignments: Assignments,
  context: PageContext | undefined,
): Readonly<Record<string, string>> {
  const page = readPage(context);
  const properties = new Map<string, string>();
  for (const experiment of plan.withProperties) {
    const placement = placeVisitor(experiment, visitorId, assignments.get(experiment.id), page);
    if (!placement.assigned) continue;
    if (placement.origin === 'new' && experiment.type !== 'personalization') continue;
    for (const [name, value] of Object.entries(placement.variant.properties)) properties.set(name, value);
  }
  return Object.fromEntries(properties);
}
