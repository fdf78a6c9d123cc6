import { PlanError } from '../values/plan-error.ts';
import { compileRegex, searchedCharactersMax } from '../values/regex.ts';
import type { Work } from '../values/work.ts';
import type { Found, Place } from './find-places.ts';

/** A rule's expectation of a property. */
export type Expectation = { readonly type: string; readonly expected: string | null };

/**
 * The places that break a rule; undefined if the property complies, and an empty list if a missing value breaks the
 * rule. `found`: the values in each object that may contain the property.
 */
export type Broken = (found: readonly Found[], work: Work) => readonly Place[] | undefined;

const valueTypes: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: (value) => Array.isArray(value),
};

/** The values of `expected` for a Type. */
export const valueTypeNames = Object.keys(valueTypes);

/** Compiles an expectation. Null counts as no value: it breaks only Required and Forbidden. Throws PlanError. */
export function compileRuleType({ type, expected }: Expectation): Broken {
  switch (type) {
    case 'Required':
      return isLacking;
    case 'Forbidden':
      return (found) => some(found.flatMap(({ places }) => places));
    case 'Type':
      return wrongValues(hasType(expected));
    case 'Pattern':
      return wrongValues(hasPattern(expected));
    case 'OneOf':
      return wrongValues(isOneOf(expected));
    case 'Range':
      return wrongValues(isWithin(expected));
    default:
      throw new PlanError('type', `is ${type}, which this build does not know`);
  }
}

/** An object of a list that lacks the property, or has null, breaks the rule, even if others in the list have it. */
function isLacking(found: readonly Found[]): readonly Place[] | undefined {
  const isThere = found.some(({ places }) => places.some(({ value }) => value !== null));
  const isPartly = found.some(({ places, isMissing }) => {
    const nulls = places.filter(({ value }) => value === null).length;
    return places.length > 0 && (isMissing || (nulls > 0 && nulls < places.length));
  });
  return isThere && !isPartly ? undefined : [];
}

type IsRight = (value: unknown, work: Work) => boolean;

function wrongValues(isRight: IsRight): Broken {
  return (found, work) =>
    some(found.flatMap(({ places }) => places).filter(({ value }) => value !== null && !isRight(value, work)));
}

const some = (places: readonly Place[]): readonly Place[] | undefined => (places.length === 0 ? undefined : places);

function hasType(expected: string | null): IsRight {
  const isRight = Object.hasOwn(valueTypes, expected ?? '') ? valueTypes[expected ?? ''] : undefined;
  if (isRight === undefined) throw new PlanError('expected', `must be one of ${valueTypeNames.join(', ')}`);
  return isRight;
}

const allowedMax = 200;

/** Each member of a list must be one of the values. */
function isOneOf(expected: string | null): IsRight {
  const allowed = new Set(readAllowed(expected));
  return (value, work) => {
    if (!Array.isArray(value)) return allowed.has(value);
    work.spend(value.length);
    return value.every((member) => allowed.has(member));
  };
}

function readAllowed(expected: string | null): readonly unknown[] {
  let values: unknown;
  try {
    values = JSON.parse(expected ?? '');
  } catch {
    values = undefined;
  }
  const isValue = (value: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof value);
  if (Array.isArray(values) && values.length > 0 && values.length <= allowedMax && values.every(isValue)) return values;
  throw new PlanError(
    'expected',
    `must be a JSON list of 1 to ${allowedMax} texts, numbers and booleans for OneOf, such as ["EUR", "USD"]`,
  );
}

function isWithin(expected: string | null): IsRight {
  const number = String.raw`(-?\d+(?:\.\d+)?)?`;
  const [, low, high] = new RegExp(`^\\s*${number}\\s*\\.\\.\\s*${number}\\s*$`).exec(expected ?? '') ?? [];
  const [from, to] = [Number(low ?? -Infinity), Number(high ?? Infinity)];
  if ((low === undefined && high === undefined) || from > to) {
    throw new PlanError('expected', 'must be two numbers for Range, the smaller one first, such as 0..100, 1.. or ..0');
  }
  return (value) => typeof value === 'number' && value >= from && value <= to;
}

/** A text longer than the searched part does not match: its end was not searched. */
function hasPattern(expected: string | null): IsRight {
  if (expected === null) throw new PlanError('expected', 'is required for a Pattern');
  const matches = compileRegex(expected, false, 'expected');
  return (value, work) => {
    if (typeof value !== 'string' && typeof value !== 'number') return false;
    const text = String(value);
    work.spend(Math.min(text.length, searchedCharactersMax));
    return text.length <= searchedCharactersMax && matches(text);
  };
}
