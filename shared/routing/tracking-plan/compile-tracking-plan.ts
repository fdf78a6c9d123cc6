import type { Envelope } from '../../contracts/events/envelope.ts';
import type { UnreadableEntity } from '../../contracts/config/account-config.ts';
import { planSeverities } from '../../contracts/config/plan-settings.ts';
import type { PublishedPlanSettings, planActions } from '../../contracts/config/plan-settings.ts';
import { isJsonObject } from '../../runtime/json.ts';
import { PlanError } from '../values/plan-error.ts';
import { OverBudgetError, Work } from '../values/work.ts';
import { compileFindPlaces } from './find-places.ts';
import type { Place } from './find-places.ts';
import { JudgedEnvelope, startsOf } from './judged-envelope.ts';
import { compilePlanPath, compilePlannedPath } from './plan-path.ts';
import { compileRuleType } from './rule-types.ts';

/** A published rule. */
export type PlanRule = {
  readonly id: string;
  readonly isEnabled: boolean;
  readonly severity: string;
  readonly eventName: string | null;
  readonly property: string;
  readonly type: string;
  readonly expected: string | null;
  readonly action: string;
};

/** A published event of the plan. */
export type PlannedEvent = {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly action: string;
  readonly properties: readonly {
    readonly name: string;
    readonly type: string;
    readonly isRequired: boolean;
    readonly allowedValues?: readonly (string | number | boolean)[] | null | undefined;
  }[];
};

/** The action for an event or a property that breaks a rule. */
export type PlanAction = (typeof planActions)[number];
export type PlanSeverity = (typeof planSeverities)[number];

export type TrackingPlanRules = {
  readonly rules: readonly PlanRule[];
  readonly events: readonly PlannedEvent[];
  readonly unreadable: readonly UnreadableEntity[];
  readonly settings: PublishedPlanSettings;
};

/** Ids of rules that have no entity. */
export const builtInRules = {
  unknownEvent: 'unknown-event',
  unknownProperty: 'unknown-property',
  deprecatedEvent: 'deprecated-event',
  tooCostly: 'too-costly',
} as const;

/** A broken rule. */
export type Hit = {
  /** The id of the rule's entity, or one of `builtInRules`. */
  readonly rule: string;
  readonly action: PlanAction;
  readonly severity: PlanSeverity;
  /**
   * Path of the property; undefined if the rule concerns the whole event, or if each of `places` has a name of its own.
   */
  readonly property: string | undefined;
  /** The places that broke the rule, with the values as sent; empty if a value is missing. */
  readonly places: readonly Place[];
};

export type PlanVerdict = {
  /** `pass`: the event continues, with the changes in `changed`. */
  readonly outcome: 'pass' | 'quarantine' | 'drop';
  /** Each rule at most once; the rules that decided the outcome come first. */
  readonly hits: readonly Hit[];
  /** The event without omitted and redacted values; undefined if it is unchanged. */
  readonly changed: Envelope | undefined;
  /** Units of work spent. */
  readonly units: number;
};

/** The tracking plan of an account's live version. */
export type TrackingPlan = {
  /** Whether the plan has rules for events of this name. */
  concerns(eventName: string): boolean;
  /** Judges an event for which `concerns` is true. Changes the envelope, which must be parsed for this call. */
  judge(eventName: string, envelope: Envelope): PlanVerdict;
};

/**
 * Units of work that the rules may spend on one event; an event that would cost more is quarantined, because no event
 * may pass unchecked.
 */
const eventUnitsMax = 100_000;

const redacted = 'REDACTED';
const outcomeOf = { Report: 'pass', Omit: 'pass', Redact: 'pass', Quarantine: 'quarantine', Drop: 'drop' } as const;
const rankOf = { Report: 0, Omit: 1, Redact: 1, Quarantine: 2, Drop: 3 } as const;

/** An action that this build does not know quarantines the event: an action of a newer build must not be ignored. */
const actionOf = (word: string): PlanAction => (Object.hasOwn(rankOf, word) ? (word as PlanAction) : 'Quarantine');

/** A severity that this build does not know counts as a Warning. */
const severityOf = (word: string): PlanSeverity => planSeverities.find((severity) => severity === word) ?? 'Warning';

const ofEvent = { property: undefined, places: [] } as const;

type EnabledRule = Omit<PlanRule, 'isEnabled'>;
type Check = (event: JudgedEnvelope, work: Work) => Hit | undefined;

/**
 * Compiles the tracking plan; undefined if an account has published none. Event names match without case. Rules for
 * every event also apply to Sluice's own events, whose names begin with `$`, except Required rules; these events are
 * never unknown. The properties of an event are checked once its entry is Approved or Deprecated. A rule that cannot be
 * read or compiled, and whose action is not Report, quarantines every event that it may concern.
 */
export function compileTrackingPlan(published: TrackingPlanRules): TrackingPlan | undefined {
  const byName = new Map<string, Check[]>();
  const add = (name: string, checks: readonly Check[]): void => {
    const key = name.toLowerCase();
    byName.set(key, [...(byName.get(key) ?? []), ...checks]);
  };
  const ofEvery: Check[] = [];
  const ofService: Check[] = [];
  const rules = [...published.rules.filter(({ isEnabled }) => isEnabled), ...unreadableRules(published.unreadable)];
  for (const rule of rules) {
    const check = compileRule(rule);
    if (check === undefined) continue;
    if (rule.eventName !== null) add(rule.eventName, [check]);
    else {
      ofEvery.push(check);
      if (rule.type !== 'Required') ofService.push(check);
    }
  }
  for (const event of published.events)
    if (event.status !== 'Proposed') add(event.name, ofPlannedEvent(event, published));
  const isPlanned = published.events.some(({ status }) => status === 'Approved');
  const known = new Set(
    [...published.events, ...unreadableEvents(published.unreadable)].map(({ name }) => name.toLowerCase()),
  );
  const { action, severity } = published.settings.unknownEvents;
  const unknownEvent: Hit = {
    rule: builtInRules.unknownEvent,
    action: actionOf(action),
    severity: severityOf(severity),
    ...ofEvent,
  };
  const unknown: Check = () => unknownEvent;
  const ofUnknown = isPlanned ? [...ofEvery, unknown] : ofEvery;
  if (byName.size + ofUnknown.length === 0) return undefined;
  const ofAllNamed = (key: string): readonly Check[] =>
    key.startsWith('$') ? ofService : known.has(key) ? ofEvery : ofUnknown;
  for (const [key, own] of byName) byName.set(key, [...ofAllNamed(key), ...own]);
  const checksOf = (name: string): readonly Check[] => {
    const key = name.toLowerCase();
    return byName.get(key) ?? ofAllNamed(key);
  };
  return {
    concerns: (eventName) => checksOf(eventName).length > 0,
    judge: (eventName, envelope) => judge(checksOf(eventName), envelope),
  };
}

function judge(checks: readonly Check[], envelope: Envelope): PlanVerdict {
  const work = new Work(eventUnitsMax);
  const event = new JudgedEnvelope(envelope);
  const broken: Hit[] = [];
  try {
    for (const check of checks) {
      work.spend(1);
      const one = check(event, work);
      if (one !== undefined) broken.push(one);
    }
  } catch (error) {
    if (!(error instanceof OverBudgetError)) throw error;
    return { outcome: 'quarantine', hits: [tooCostly], changed: undefined, units: eventUnitsMax };
  }
  const hits = distinct(broken.toSorted((a, b) => rankOf[b.action] - rankOf[a.action]));
  const outcome = outcomeOf[hits[0]?.action ?? 'Report'];
  const changed = change(event, broken) ? event.envelope : undefined;
  return { outcome, hits, changed, units: work.spent };
}

const tooCostly: Hit = { rule: builtInRules.tooCostly, action: 'Quarantine', severity: 'Error', ...ofEvent };

function distinct(broken: readonly Hit[]): readonly Hit[] {
  const hits = new Map<string, Hit>();
  for (const hit of broken) if (!hits.has(hit.rule)) hits.set(hit.rule, hit);
  return [...hits.values()];
}

/**
 * Redacts and omits values after all checks; a value that both would change is omitted. Consent stays, because a
 * refusal would be lost. Returns whether it changed any.
 */
function change(event: JudgedEnvelope, broken: readonly Hit[]): boolean {
  let isChanged = false;
  const each = (action: PlanAction, one: (place: Place) => void): void => {
    for (const hit of broken) {
      if (hit.action !== action) continue;
      for (const place of hit.places) {
        if (event.isConsent(place)) continue;
        one(place);
        isChanged = true;
      }
    }
  };
  each('Redact', (place) => {
    // An identifier that is redacted to the same text in many events would merge their visitors.
    if (event.isIdentifier(place)) omit(place);
    else place.holder[place.name] = redacted;
  });
  each('Omit', omit);
  return isChanged;
}

/** In a list the value becomes null, so that the other items keep their index. */
function omit({ holder, name }: Place): void {
  if (Array.isArray(holder)) holder[Number(name)] = null;
  else delete holder[name];
}

/** The check of a rule; undefined if the rule cannot be compiled and would only report. */
function compileRule(rule: EnabledRule, compilePath = compilePlanPath): Check | undefined {
  const action = actionOf(rule.action);
  const severity = severityOf(rule.severity);
  try {
    const path = compilePath(rule.property, 'property');
    const isBroken = compileRuleType(rule);
    const starts = startsOf(path).map(({ holderOf, names }) => ({ holderOf, find: compileFindPlaces(names) }));
    return (event, work) => {
      const found = starts.map(({ holderOf, find }) => find(holderOf(event), work));
      const places = isBroken(found, work);
      return places && { rule: rule.id, action, severity, property: rule.property, places };
    };
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    const held: Hit = { rule: rule.id, action: 'Quarantine', severity, ...ofEvent };
    return action === 'Report' ? undefined : () => held;
  }
}

/** Planned events that this build cannot read, but whose names it can. */
function unreadableEvents(unreadable: readonly UnreadableEntity[]): readonly { readonly name: string }[] {
  return unreadable.flatMap(({ collection, entity: { name } }) =>
    collection === 'dataGovernanceEvents' && typeof name === 'string' ? [{ name }] : [],
  );
}

/**
 * Enabled rules and planned events that this build cannot read and that do more than report: they quarantine every
 * event that they may concern.
 */
function unreadableRules(unreadable: readonly UnreadableEntity[]): readonly EnabledRule[] {
  const rules = unreadable.filter(({ collection, isDefaulted, entity }) => {
    if (isDefaulted) return false;
    if (collection === 'dataGovernanceEvents') return (entity['status'] ?? 'Proposed') !== 'Proposed';
    return collection === 'dataGovernanceRules' && entity['isEnabled'] !== false;
  });
  const ids = new Set<string>();
  return rules.flatMap(({ collection, id, entity }) => {
    if (ids.has(id) || (entity['action'] ?? 'Report') === 'Report') return [];
    ids.add(id);
    const about = entity[collection === 'dataGovernanceEvents' ? 'name' : 'eventName'];
    const eventName = typeof about === 'string' ? about : null;
    const holding = { severity: String(entity['severity']), eventName, property: '', type: '' };
    return [{ id, ...holding, expected: null, action: 'Quarantine' }];
  });
}

function ofPlannedEvent(event: PlannedEvent, { events, settings }: TrackingPlanRules): readonly Check[] {
  const { id, name, status, properties } = event;
  const action = actionOf(event.action);
  const checks: Check[] = [];
  const addRule = (property: string, type: string, expected: string | null, by: PlanAction): void => {
    const rule = { id, severity: 'Warning', eventName: name, property, type, expected, action: by };
    const check = compileRule(rule, compilePlannedPath);
    if (check !== undefined) checks.push(check);
  };
  for (const { name: property, type, isRequired, allowedValues } of properties) {
    const path = `event_properties.${property}`;
    if (type !== 'any') addRule(path, 'Type', type, action);
    if (allowedValues) addRule(path, 'OneOf', JSON.stringify(allowedValues), action);
    // A missing value can neither be omitted nor redacted.
    if (isRequired) addRule(path, 'Required', null, rankOf[action] === rankOf.Omit ? 'Report' : action);
  }
  if (status === 'Deprecated') {
    checks.push(() => deprecated);
  }
  if (events.some((one) => one.status === 'Approved') && !name.startsWith('$')) {
    checks.push(findsUnknown(properties, settings.unknownProperties));
  }
  return checks;
}

const deprecated: Hit = { rule: builtInRules.deprecatedEvent, action: 'Report', severity: 'Info', ...ofEvent };

/** Finds properties of an event that its entry does not list. An entry with `products.price` also lists `products`. */
function findsUnknown(
  properties: PlannedEvent['properties'],
  setting: TrackingPlanRules['settings']['unknownProperties'],
): Check {
  const [action, severity] = [actionOf(setting.action), severityOf(setting.severity)];
  const known = new Set(properties.flatMap(({ name }) => [name, name.split('.')[0]]));
  return (event, work) => {
    const holder = event.properties;
    if (!isJsonObject(holder)) return undefined;
    const names = Object.keys(holder).filter((name) => !known.has(name));
    work.spend(names.length);
    if (names.length === 0) return undefined;
    const places = names.map((name) => ({ holder: holder as Place['holder'], name, value: holder[name] }));
    return { rule: builtInRules.unknownProperty, action, severity, property: undefined, places };
  };
}
