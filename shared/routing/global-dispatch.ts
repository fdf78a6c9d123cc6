import { compilePredicate } from './predicate/predicate.ts';
import type { Predicate } from './predicate/predicate.ts';
import type { Subject } from './values/property-path.ts';

type Category = {
  readonly name: string;
  readonly priority: number;
  readonly destinationIds: readonly string[];
  readonly logic: unknown;
};

/** The account-wide dispatch rules, as they are published. */
export type GlobalDispatchCenter = { readonly isEnabled: boolean; readonly categories: readonly Category[] };

/** The name of the category that stops the event, or undefined where none does. */
export type FindGlobalStop = (subject: Subject) => string | undefined;

/**
 * Compiles the account-wide dispatch rules for one destination:
 * `{isEnabled, categories: [{name, priority, destinationIds, logic}]}`. A category whose logic holds stops the event for
 * its destinations: logic describes the events that may not leave. Categories are tried from the lowest priority number
 * to the highest, and the first that holds is named. A center that is not enabled stops nothing, nor does a category
 * without logic: one that is still being written must not hold back all events.
 * Throws PlanError naming the category and the field.
 */
export function compileGlobalDispatch(centers: readonly GlobalDispatchCenter[], destinationId: string): FindGlobalStop {
  const categories = centers
    .filter(({ isEnabled }) => isEnabled)
    .flatMap((center) => center.categories)
    .flatMap((category, index) => compileCategory(category, destinationId, `categories[${index}]`))
    .toSorted((a, b) => a.priority - b.priority);
  return (subject) => categories.find(({ holds }) => holds(subject))?.name;
}

type Compiled = { readonly name: string; readonly priority: number; readonly holds: Predicate };

/** One category, or none where it says nothing of this destination. */
function compileCategory(
  { name, priority, destinationIds, logic }: Category,
  destinationId: string,
  field: string,
): readonly Compiled[] {
  if (logic === null || !destinationIds.includes(destinationId)) return [];
  return [{ name, priority, holds: compilePredicate(logic, `${field}.logic`) }];
}
