import type { SnapshotEntity } from '../contracts/config/account-config.ts';
import { isJsonObject } from '../runtime/json.ts';
import { PlanError } from './values/plan-error.ts';
import { compilePredicate } from './predicate/predicate.ts';
import type { Predicate } from './predicate/predicate.ts';
import type { Subject } from './values/property-path.ts';

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
export function compileGlobalDispatch(centers: readonly SnapshotEntity[], destinationId: string): FindGlobalStop {
  const categories = centers
    .filter(({ isEnabled }) => isEnabled === true)
    .flatMap(({ categories }) => (Array.isArray(categories) ? (categories as readonly unknown[]) : []))
    .flatMap((category, index) => compileCategory(category, destinationId, `categories[${index}]`))
    .toSorted((a, b) => a.priority - b.priority);
  return (subject) => categories.find(({ holds }) => holds(subject))?.name;
}

type Category = { readonly name: string; readonly priority: number; readonly holds: Predicate };

/** One category, or none where it says nothing of this destination. */
function compileCategory(category: unknown, destinationId: string, field: string): readonly Category[] {
  if (!isJsonObject(category)) throw new PlanError(field, 'must be an object with name, destinationIds and logic');
  const { name, priority, destinationIds, logic } = category;
  if (!Array.isArray(destinationIds) || !destinationIds.includes(destinationId)) return [];
  if (logic === null || logic === undefined) return [];
  if (typeof priority !== 'number') throw new PlanError(`${field}.priority`, 'must be a number');
  return [{ name: typeof name === 'string' ? name : '', priority, holds: compilePredicate(logic, `${field}.logic`) }];
}
