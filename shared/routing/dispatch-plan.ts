import type { AccountConfig, SnapshotEntity } from '../contracts/config/account-config.ts';
import type { EventHead } from '../contracts/events/resolved-event.ts';
import type { JsonObject } from '../runtime/json.ts';
import { isJsonObject } from '../runtime/json.ts';
import { compileAllowedEvents } from './allowed-events.ts';
import { compileIntegrations } from './integrations.ts';
import { compileMappings } from './mapping/apply-mapping.ts';
import type { Subject } from './values/property-path.ts';
import type { PublishedDestination } from './published-destinations.ts';
import { PlanError } from './values/plan-error.ts';
import type { Predicate } from './predicate/predicate.ts';
import { compilePredicate } from './predicate/predicate.ts';

/** What is to become of one event at one destination. */
export type Decision =
  /** Not for this destination: no dispatch, not counted in health. */
  | { readonly kind: 'skip'; readonly rule: SkipRule }
  /** A mapping rule stopped it. */
  | { readonly kind: 'stop'; readonly ruleId: string }
  /** An account-wide dispatch rule stopped it. */
  | { readonly kind: 'global-stop'; readonly category: string }
  | { readonly kind: 'send'; readonly mapped?: { readonly eventName: string; readonly properties: JsonObject } };

export type SkipRule = 'test' | 'not_allowed' | 'disabled' | 'source' | 'integrations';

/** What a dispatcher needs of its account's live version, compiled once a revision. */
export type DispatchPlan = {
  readonly destination: PublishedDestination;
  /** `subject` is the event with that head; it is looked at only where there are rules that do. */
  decide(head: EventHead, subject: Subject): Decision;
};

const send: Decision = { kind: 'send' };
const skips: Readonly<Record<SkipRule, Decision>> = {
  test: { kind: 'skip', rule: 'test' },
  not_allowed: { kind: 'skip', rule: 'not_allowed' },
  disabled: { kind: 'skip', rule: 'disabled' },
  source: { kind: 'skip', rule: 'source' },
  integrations: { kind: 'skip', rule: 'integrations' },
};

/**
 * Compiles the rules that decide whether an event reaches this destination, in the order they apply, and what is sent.
 * Throws PlanError when a rule cannot be understood: sending without it might send what it should have stopped.
 */
export function compileDispatchPlan(config: AccountConfig, destination: PublishedDestination): DispatchPlan {
  const { id, isEnabled, limitedToSourceIds, hashingSalt } = destination;
  const { allowedEvents, globalDispatchCenters, mappings } = config.collections;
  const isAllowed = compileAllowedEvents(allowedEvents, id);
  const findGlobalStop = compileGlobalDispatch(globalDispatchCenters, id);
  const own = mappings.filter(({ destinationId }) => destinationId === id);
  const applyMappings = compileMappings(own, hashingSalt);
  const isWanted = compileIntegrations(destination);
  return {
    destination,
    decide(head, subject) {
      if (head.isTest) return skips.test;
      if (!isAllowed(head.name)) return skips.not_allowed;
      if (!isEnabled) return skips.disabled;
      if (limitedToSourceIds !== undefined && !limitedToSourceIds.has(head.sourceId)) return skips.source;
      if (head.integrations !== undefined && !isWanted(head.integrations)) return skips.integrations;
      const category = findGlobalStop(subject);
      if (category !== undefined) return { kind: 'global-stop', category };
      const outcome = applyMappings(subject);
      switch (outcome.kind) {
        case 'default':
          return send;
        case 'stop':
          return { kind: 'stop', ruleId: outcome.ruleId };
        case 'send':
          return { kind: 'send', mapped: { eventName: outcome.eventName, properties: outcome.properties } };
      }
    },
  };
}

/** The name of the category that stops the event, or undefined where none does. */
type FindGlobalStop = (subject: Subject) => string | undefined;

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
