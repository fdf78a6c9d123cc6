import type { UnreadableEntity } from '../contracts/config/account-config.ts';
import type { EventHead } from '../contracts/events/resolved-event.ts';
import type { ConsentMode, GoogleConsentType } from '../contracts/events/consent-words.ts';
import { isJsonObject } from '../runtime/json.ts';
import type { JsonObject } from '../runtime/json.ts';
import type { AllowedEvent } from './allowed-events.ts';
import { compileAllowedEvents } from './allowed-events.ts';
import { compileConsent } from './consent/compile-consent.ts';
import type { ConsentNow, ConsentSetting, ConsentVerdict } from './consent/compile-consent.ts';
import { compileConsentMode, isSameMode } from './consent/consent-mode.ts';
import type { PurposeAnswer } from './consent/purpose-answer.ts';
import { unknownRegion } from './consent/region.ts';
import { compileIntegrations } from './integrations.ts';
import type { MappingRule } from './mapping/apply-mapping.ts';
import { createEncryption, EncryptionKeyError, readEncryptionKey } from './modifications/encryption.ts';
import type { EncryptValue } from './modifications/encryption.ts';
import { compileMappings } from './mapping/apply-mapping.ts';
import type { RemakeProperties } from './mapping/apply-mapping.ts';
import type { Subject } from './values/property-path.ts';
import type { PublishedDestination } from './published-destinations.ts';
import { PlanError } from './values/plan-error.ts';
import type { Predicate } from './predicate/predicate.ts';
import { compilePredicate } from './predicate/predicate.ts';

/** The decision about one event at one destination. */
export type Decision =
  /** The event is not for this destination: it is not sent, and health does not count it. */
  | { readonly kind: 'skip'; readonly rule: SkipRule }
  /** A mapping rule stopped it. */
  | { readonly kind: 'stop'; readonly ruleId: string }
  /** An account-wide dispatch rule stopped it. */
  | { readonly kind: 'global-stop'; readonly category: string }
  /** Its visitor does not allow a purpose that the destination serves. */
  | NoConsent
  /**
   * Sent as a mapping rule maps it, or unchanged if no rule applies. `limitedBy`: the event may be sent for limited use
   * only; if the platform cannot limit its use, this is the reason to stop the event.
   */
  | {
      readonly kind: 'send';
      readonly ruleId?: string;
      readonly mapped?: MappedEvent;
      readonly limitedBy?: NoConsent | undefined;
      /** The visitor's answers for the consent types that the destination passes on. */
      readonly consentMode?: ConsentMode | undefined;
    };

type NoConsent = {
  readonly kind: 'no-consent';
  readonly purpose: string;
  readonly answers: readonly PurposeAnswer[];
};

type MappedEvent = {
  readonly eventName: string;
  readonly properties: JsonObject;
  readonly remake?: RemakeProperties | undefined;
};

export type SkipRule = 'test' | 'not_allowed' | 'disabled' | 'source' | 'integrations';

/** What a dispatcher needs from its account's live version, compiled once per revision. */
export type DispatchPlan = {
  readonly destination: PublishedDestination;
  /** `subject` is the event with this head; only some rules read it. */
  decide(head: EventHead, subject: Subject, now?: ConsentNow): Decision;
  /** Whether consent still allows sending an event as decided. */
  isConsented(head: EventHead, subject: Subject & Consented, now: ConsentNow): boolean;
};

/** How an event may be sent: for limited use or in full, and with which consent types. */
export type Consented = { readonly isLimited: boolean; readonly consentMode: ConsentMode | undefined };

/** The properties of a destination kind that the plan uses. */
export type PlannedKind = {
  /** The names that senders use for the kind's platform. */
  readonly namesElsewhere: readonly string[];
  /** Google's consent types that the kind passes on. */
  readonly consentTypes: readonly GoogleConsentType[];
};

type Category = {
  readonly name: string;
  readonly priority: number;
  readonly destinationIds: readonly string[];
  readonly logic: unknown;
};

/** The account-wide dispatch rules, as they are published. */
export type GlobalDispatchCenter = { readonly isEnabled: boolean; readonly categories: readonly Category[] };

/** The rules of an account's live version. */
export type DispatchRules = {
  readonly collections: {
    readonly allowedEvents: readonly AllowedEvent[];
    readonly consentSettings: readonly ConsentSetting[];
    readonly globalDispatchCenters: readonly GlobalDispatchCenter[];
    readonly mappings: readonly (MappingRule & { readonly id: string; readonly destinationId: string })[];
  };
  readonly unreadable: readonly UnreadableEntity[];
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
 * Compiles the mapping, and the rules that decide whether an event reaches this destination, in the order in which they
 * apply. Throws PlanError if the destination or a rule cannot be read: without the rule, an event that it stops might
 * be sent.
 */
export function compileDispatchPlan(
  config: DispatchRules,
  destination: PublishedDestination,
  { namesElsewhere, consentTypes }: PlannedKind,
): DispatchPlan {
  refuseUnreadable(config.unreadable, destination, consentTypes);
  const { id, isEnabled, limitedToSourceIds, hashingSalt, settings } = destination;
  const { allowedEvents, consentSettings, globalDispatchCenters, mappings } = config.collections;
  const isAllowed = compileAllowedEvents(allowedEvents, limitsEvents(config), id);
  const findGlobalStop = compileGlobalDispatch(globalDispatchCenters, id);
  const own = mappings.filter(({ destinationId }) => destinationId === id);
  const applyMappings = compileMappings(own, hashingSalt, encryptionOf(destination));
  const isWanted = compileIntegrations(destination, namesElsewhere);
  const rule = settings['consentRule'] === 'any' ? 'any' : 'all';
  const judgeConsent = compileConsent(consentSettings, id, rule, settings['onOptOut'] === 'limitedUse');
  const findConsentMode = compileConsentMode(consentSettings, consentTypes);
  return {
    destination,
    isConsented(head, subject, now) {
      const use = judgeConsent?.(head, subject, now).use ?? 'full';
      if (use !== 'full' && !(use === 'limited' && subject.isLimited)) return false;
      return isSameMode(findConsentMode?.(head, subject, now), subject.consentMode);
    },
    decide(head, subject, now = nothingWithdrawn) {
      if (head.isTest) return skips.test;
      if (!isAllowed(head.name)) return skips.not_allowed;
      if (!isEnabled) return skips.disabled;
      if (limitedToSourceIds !== undefined && !limitedToSourceIds.has(head.sourceId)) return skips.source;
      if (head.integrations !== undefined && !isWanted(head.integrations)) return skips.integrations;
      const verdict = judgeConsent?.(head, subject, now);
      const limitedBy = verdict === undefined || verdict.use === 'full' ? undefined : withoutConsent(verdict);
      if (limitedBy !== undefined && verdict?.use === 'none') return limitedBy;
      const category = findGlobalStop(subject);
      if (category !== undefined) return { kind: 'global-stop', category };
      const outcome = applyMappings(subject);
      const consentMode = findConsentMode?.(head, subject, now);
      switch (outcome.kind) {
        case 'default':
          return limitedBy === undefined && consentMode === undefined ? send : { kind: 'send', limitedBy, consentMode };
        case 'stop':
          return { kind: 'stop', ruleId: outcome.ruleId };
        case 'send': {
          const { ruleId, eventName, properties, remake } = outcome;
          return { kind: 'send', ruleId, mapped: { eventName, properties, remake }, limitedBy, consentMode };
        }
      }
    },
  };
}

/** Undefined if the destination has no encryption key. Throws PlanError for an invalid key. */
function encryptionOf({ id, accountId, settings }: PublishedDestination): EncryptValue | undefined {
  const pem = settings['encryptionKey'];
  if (typeof pem !== 'string' || pem === '') return undefined;
  try {
    return createEncryption({ publicKey: readEncryptionKey(pem), accountId, destinationId: id });
  } catch (error) {
    if (error instanceof EncryptionKeyError) throw new PlanError('settings.encryptionKey', error.message);
    throw error;
  }
}

/** For callers that do not send the event. */
const nothingWithdrawn: ConsentNow = {
  lastWords: () => undefined,
  onUnreadable: () => undefined,
  regionOf: () => unknownRegion,
};

function withoutConsent({ answers }: ConsentVerdict): NoConsent {
  return { kind: 'no-consent', purpose: answers.find(({ isGranted }) => !isGranted)?.purpose ?? '', answers };
}

/** Whether an account has published allowed events. An unreadable entry counts too, and allows nothing. */
export function limitsEvents({ collections, unreadable }: Pick<DispatchRules, 'unreadable'> & AllowedEvents): boolean {
  return collections.allowedEvents.length > 0 || unreadable.some(({ collection }) => collection === 'allowedEvents');
}

type AllowedEvents = { readonly collections: Pick<DispatchRules['collections'], 'allowedEvents'> };

function refuseUnreadable(
  unreadable: readonly UnreadableEntity[],
  { id, unreadable: own }: PublishedDestination,
  consentTypes: readonly GoogleConsentType[],
): void {
  if (own !== undefined) throw new PlanError(`destination ${own}`, cannotBeRead);
  const rule = unreadable.find((entity) => mayBeAbout(entity, id, consentTypes));
  if (rule !== undefined) throw new PlanError(`${rule.collection} ${rule.id}: ${rule.field}`, cannotBeRead);
}

const cannotBeRead = 'cannot be read by this build';

/** Whether an unreadable rule may stop events of a destination. */
function mayBeAbout(
  { collection, entity, isDefaulted }: UnreadableEntity,
  destinationId: string,
  consentTypes: readonly GoogleConsentType[],
): boolean {
  if (isDefaulted || entity['isEnabled'] === false) return false;
  if (collection === 'globalDispatchCenters' || collection === 'externalAllowedEventData') return true;
  if (collection === 'consentSettings') {
    const { destinationIds, signals } = entity;
    const types: unknown = isJsonObject(signals) ? signals['googleConsentMode'] : undefined;
    const hasType = Array.isArray(types) && consentTypes.some((type) => types.includes(type));
    return hasType || !Array.isArray(destinationIds) || destinationIds.includes(destinationId);
  }
  const about = entity['destinationId'];
  return collection === 'mappings' && (about === destinationId || typeof about !== 'string');
}

/** The name of the category that stops the event, or undefined if none does. */
type FindGlobalStop = (subject: Subject) => string | undefined;

/**
 * Compiles the account-wide dispatch rules for one destination: `{isEnabled, categories: [{name, priority,
 * destinationIds, logic}]}`. A category whose logic holds stops the event for its destinations. Categories are tried
 * from the lowest priority number to the highest, and the first whose logic holds is reported. A disabled center stops
 * nothing, and neither does a category without logic: an unfinished category must not stop all events. Throws PlanError
 * naming the category and the field.
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

/** A list with the compiled category; empty if the category does not concern this destination. */
function compileCategory(
  { name, priority, destinationIds, logic }: Category,
  destinationId: string,
  field: string,
): readonly Compiled[] {
  if (logic === null || !destinationIds.includes(destinationId)) return [];
  return [{ name, priority, holds: compilePredicate(logic, `${field}.logic`) }];
}
