import { copyMember, setNumber } from '../../json/exact-numbers.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { EncryptValue } from '../modifications/encryption.ts';
import { compileModification } from '../modifications/modifications.ts';
import type { RuleProblem } from '../values/plan-error.ts';
import { PlanError, problemsOf } from '../values/plan-error.ts';
import type { Predicate } from '../predicate/predicate.ts';
import { compilePredicate } from '../predicate/predicate.ts';
import type { Subject } from '../values/property-path.ts';
import { compileTemplate } from './template.ts';

export const mappedPropertiesMax = 500;

/** A mapping rule of a destination, published or about to be stored. */
export type MappingRule = {
  readonly priority: number;
  readonly isEnabled: boolean;
  readonly logic: unknown;
  readonly action: string;
  readonly eventName: string | null;
  readonly mappings: readonly MappingRow[];
  /** `omit` leaves out properties that no row names; `keep` sends them unchanged. */
  readonly others: string;
};

type MappingRow = { readonly property: string; readonly map: string; readonly modification?: string | null };

/** The result of a destination's mapping rules for an event; `ruleId` is the deciding rule. */
export type MappingOutcome =
  | {
      readonly kind: 'send';
      readonly ruleId: string;
      readonly eventName: string;
      readonly properties: JsonObject;
      readonly remake?: RemakeProperties | undefined;
    }
  | { readonly kind: 'stop'; readonly ruleId: string }
  /** No rule applies: the destination sends its default payload. */
  | { readonly kind: 'default' };

/** Maps the same event again, parsed so that numbers keep their digits. */
export type RemakeProperties = (subject: Subject) => JsonObject;

export type ApplyMappings = (subject: Subject) => MappingOutcome;

/**
 * Compiles the mapping rules of one destination: `{priority, isEnabled, logic, action: "send" | "stop", eventName,
 * mappings: [{property, map, modification}], others}`. Rules are tried from the lowest priority number to the highest;
 * the first that is enabled and whose logic holds decides, and a rule without logic always holds. A `send` rule sends
 * the mapped properties under the name that its template gives; the event keeps its own name if there is no template or
 * the result is empty. A property without a value is left out, and if two rows set one property, the later row with a
 * value wins. A rule without rows keeps the event's own properties. A rule whose `others` is `keep` also keeps the
 * properties that its rows do not name; a property that a row names is never sent unchanged, even if it has no value.
 * Throws PlanError naming the rule and the field; disabled rules are not checked.
 */
export function compileMappings(
  rules: readonly (MappingRule & { readonly id: string })[],
  hashingSalt: string | undefined,
  encrypt?: EncryptValue,
): ApplyMappings {
  const hiding = { salt: hashingSalt ?? '', encrypt };
  const tried = rules
    .filter(({ isEnabled }) => isEnabled)
    .map((rule) => ({ id: rule.id, ...compileRule(rule, hiding, `mapping ${rule.id}: `) }))
    .toSorted((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1));
  return (subject) => {
    const rule = tried.find(({ holds }) => holds(subject));
    if (rule === undefined) return noRule;
    return rule.payload === undefined
      ? { kind: 'stop', ruleId: rule.id }
      : { kind: 'send', ruleId: rule.id, ...rule.payload(subject) };
  };
}

/**
 * A list of the first problem of a mapping rule, for a check before the rule is stored; empty if there is no problem.
 */
export function checkMappingRule(rule: MappingRule): readonly RuleProblem[] {
  return problemsOf(() => compileRule(rule, anyHiding, ''));
}

/** Salt and encryption for hidden values. */
type Hiding = { readonly salt: string; readonly encrypt: EncryptValue | undefined };

/** Used to check a rule without its destination. */
const anyHiding: Hiding = { salt: '', encrypt: () => '' };

const ownProperties: RemakeProperties = ({ event }) => event.event_properties;
const noRule: MappingOutcome = { kind: 'default' };

type Payload = (subject: Subject) => {
  readonly eventName: string;
  readonly properties: JsonObject;
  readonly remake: RemakeProperties;
};

type Rule = { readonly priority: number; readonly holds: Predicate; readonly payload: Payload | undefined };

function compileRule(rule: MappingRule, hiding: Hiding, prefix: string): Rule {
  const { priority, logic, action } = rule;
  const holds = logic === null ? () => true : compilePredicate(logic, `${prefix}logic`);
  if (action === 'stop') return { priority, holds, payload: undefined };
  if (action !== 'send') throw new PlanError(`${prefix}action`, 'must be send or stop');
  return { priority, holds, payload: compilePayload(rule, hiding, prefix) };
}

function compilePayload({ eventName, mappings, others }: MappingRule, hiding: Hiding, prefix: string): Payload {
  if (others !== 'omit' && others !== 'keep') throw new PlanError(`${prefix}others`, 'must be omit or keep');
  const name = compileTemplate(eventName ?? '', `${prefix}eventName`);
  const fillIn = compileRows(mappings, hiding, { field: `${prefix}mappings`, keepsOthers: others === 'keep' });
  const remake = fillIn ?? ownProperties;
  return (subject) => {
    const { event, event_properties } = subject.event;
    return {
      eventName: name.renderText(subject) || event,
      properties: fillIn?.(subject) ?? event_properties,
      remake,
    };
  };
}

/** Builds the mapped properties; undefined if there are no rows. */
function compileRows(
  rows: readonly MappingRow[],
  hiding: Hiding,
  { field, keepsOthers }: { readonly field: string; readonly keepsOthers: boolean },
): RemakeProperties | undefined {
  if (rows.length > mappedPropertiesMax) {
    throw new PlanError(field, `must be a list of at most ${mappedPropertiesMax}`);
  }
  if (rows.length === 0) return undefined;
  const compiled = rows.map((row, index) => compileRow(row, hiding, `${field}[${index}]`));
  checkNoOverlap(
    compiled.map(({ property }) => property),
    (index) => `${field}[${index}].property`,
  );
  const keepOthers = compileOmission(compiled.map(({ property }) => property));
  return (subject) => {
    if (keepsOthers) subject.work?.write(subject.event.event_properties);
    const properties = keepsOthers ? keepOthers(subject.event.event_properties) : {};
    for (const { fill } of compiled) fill(properties, subject);
    return properties;
  };
}

/**
 * Compiles a function that copies an object without some properties. Objects that contain one of them are copied as
 * well, so that the property can be set in the copy.
 */
function compileOmission(names: readonly string[]): (from: JsonObject) => MutableProperties {
  // The name of a property may itself contain dots.
  const omitted = new Set(names);
  const within = new Map<string, string[]>();
  for (const name of names) {
    const dot = name.indexOf('.');
    if (dot !== -1) within.set(name.slice(0, dot), [...(within.get(name.slice(0, dot)) ?? []), name.slice(dot + 1)]);
  }
  const inner = new Map([...within].map(([name, rest]) => [name, compileOmission(rest)]));
  return (from) => {
    const kept: MutableProperties = {};
    for (const [name, value] of Object.entries(from)) {
      if (omitted.has(name) || name === '__proto__') continue;
      const omit = inner.get(name);
      if (omit === undefined) copyMember(kept, name, from);
      else if (isJsonObject(value)) kept[name] = omit(value);
    }
    return kept;
  };
}

type Row = { readonly property: string; fill(properties: MutableProperties, subject: Subject): void };

function compileRow({ property, map, modification }: MappingRow, { salt, encrypt }: Hiding, field: string): Row {
  const template = compileTemplate(map, `${field}.map`);
  const encryptOwn = encrypt && ((value: unknown, digits?: string) => encrypt(value, property, digits));
  const modify = compileModification(modification, salt, `${field}.modification`, encryptOwn);
  const set = compileProperty(property, `${field}.property`);
  return {
    property,
    fill(properties, subject) {
      const rendered = template.render(subject);
      subject.work?.write(rendered);
      const digits = typeof rendered === 'number' ? template.numberText(subject) : undefined;
      const value = modify(rendered, digits);
      if (value !== undefined) set(properties, value, value === rendered ? digits : undefined);
    },
  };
}

const propertyCharactersMax = 250;
const propertySegmentsMax = 10;

/** Properties that are being built for a destination. */
export type MutableProperties = { [name: string]: unknown };

/** `text`: the digits of a number that a double cannot represent. */
type SetProperty = (properties: MutableProperties, value: unknown, text?: string) => void;

/**
 * Compiles the name of a destination property: `user_data.em` sets `em` within the object `user_data`, which is created
 * if it is missing. Throws PlanError if a part is empty or is `__proto__`, `prototype` or `constructor`. No other
 * property set on the same object may be a prefix of the path: see `checkNoOverlap`.
 */
export function compileProperty(name: string, field: string): SetProperty {
  if (name.length > propertyCharactersMax) {
    throw new PlanError(field, `must be at most ${propertyCharactersMax} characters`);
  }
  const [first = '', ...rest] = name.split('.');
  const parts = [first, ...rest];
  if (parts.length > propertySegmentsMax) {
    throw new PlanError(field, `must have at most ${propertySegmentsMax} names with a dot between them`);
  }
  for (const part of parts) {
    if (part.trim() === '') throw new PlanError(field, 'must be a name, or names with a dot between them');
    if (reservedNames.has(part)) throw new PlanError(field, `must not use the name ${part}`);
  }
  const last = rest.at(-1) ?? first;
  const holders = parts.slice(0, -1);
  return (properties, value, text) => {
    let holder = properties;
    for (const part of holders) holder = childOf(holder, part);
    if (text === undefined) holder[last] = value;
    else setNumber(holder, last, text);
  };
}

const reservedNames: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);

/** Throws PlanError if one property would be the value that contains another: `user` and `user.email`. */
export function checkNoOverlap(names: readonly string[], fieldOf: (index: number) => string): void {
  const taken = new Set(names);
  for (const [index, name] of names.entries()) {
    for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
      const outer = name.slice(0, dot);
      if (taken.has(outer))
        throw new PlanError(fieldOf(index), `cannot be set within ${outer}, which another row sets as a whole`);
    }
  }
}

function childOf(holder: MutableProperties, name: string): MutableProperties {
  if (Object.hasOwn(holder, name)) return holder[name] as MutableProperties;
  const child: MutableProperties = {};
  holder[name] = child;
  return child;
}
