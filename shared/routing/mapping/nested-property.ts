import { PlanError } from '../values/plan-error.ts';

export const propertyCharactersMax = 250;
export const propertySegmentsMax = 10;

/** Properties being put together for a destination. */
export type MutableProperties = { [name: string]: unknown };

export type SetProperty = (properties: MutableProperties, value: unknown) => void;

/**
 * Compiles the name of a destination property: `user_data.em` sets `em` within the object `user_data`, which is made on
 * the way. Throws PlanError where a part is empty or a name that objects inherit by (`__proto__`, `prototype`,
 * `constructor`). No other property set on the same object may be a part of the way: see `checkNoOverlap`.
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
  return (properties, value) => {
    let holder = properties;
    for (const part of holders) holder = childOf(holder, part);
    holder[last] = value;
  };
}

const reservedNames: ReadonlySet<string> = new Set(['__proto__', 'prototype', 'constructor']);

/** Throws PlanError where one property would be the value another one nests in: `user` and `user.email`. */
export function checkNoOverlap(names: readonly string[], fieldOf: (index: number) => string): void {
  const taken = new Set(names);
  for (const [index, name] of names.entries()) {
    for (let dot = name.indexOf('.'); dot !== -1; dot = name.indexOf('.', dot + 1)) {
      const outer = name.slice(0, dot);
      if (taken.has(outer)) throw new PlanError(fieldOf(index), `cannot be set within ${outer}, which is set itself`);
    }
  }
}

function childOf(holder: MutableProperties, name: string): MutableProperties {
  if (Object.hasOwn(holder, name)) return holder[name] as MutableProperties;
  const child: MutableProperties = {};
  holder[name] = child;
  return child;
}
