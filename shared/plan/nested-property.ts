import { PlanError } from './plan-error.ts';

export const propertyCharactersMax = 200;
export const propertySegmentsMax = 10;

/** Properties being put together for a destination. */
export type MutableProperties = { [name: string]: unknown };

export type SetProperty = (properties: MutableProperties, value: unknown) => void;

/**
 * The parts of a destination property: `user_data.em` is `em` within the object `user_data`. Throws PlanError where a
 * part is empty or a name that objects inherit by (`__proto__`, `prototype`, `constructor`).
 */
export function propertyParts(name: string, field: string): readonly [string, ...string[]] {
  if (name.length > propertyCharactersMax) {
    throw new PlanError(field, `must be at most ${propertyCharactersMax} characters`);
  }
  const [first = '', ...rest] = name.split('.');
  if (rest.length >= propertySegmentsMax) {
    throw new PlanError(field, `must be nested at most ${propertySegmentsMax} deep`);
  }
  for (const part of [first, ...rest]) {
    if (part.trim() === '') throw new PlanError(field, 'must be a name, or names with a dot between them');
    if (reservedNames.has(part)) throw new PlanError(field, `must not use the name ${part}`);
  }
  return [first, ...rest];
}

const reservedNames: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);

/** Puts a value where the parts say, making the objects on the way. The parts are those of `propertyParts`. */
export function setProperty(parts: readonly [string, ...string[]]): SetProperty {
  const holders = parts.slice(0, -1);
  const last = parts.at(-1) ?? parts[0];
  return (properties, value) => {
    let holder = properties;
    for (const name of holders) holder = childOf(holder, name);
    holder[name(last)] = value;
  };
}
