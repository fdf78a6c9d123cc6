import { copyMember } from '../json/exact-numbers.ts';
import { isJsonObject } from '../runtime/json.ts';
import type { JsonObject } from '../runtime/json.ts';

/** A published entry: an event and the properties that destinations may receive. */
export type AllowedData = { readonly name: string; readonly properties: readonly string[] };

/** The properties of an event that destinations may receive. */
export type LimitData = (eventName: string, properties: JsonObject) => JsonObject;

/** Stands for every event. */
const everyEvent = '*';

/**
 * Compiles the allow-list of properties; undefined if an account has published no entries, so that all properties are
 * allowed. Event names match without case. The entry `*` applies to all events; an event without an entry of its own
 * keeps only the properties listed for `*`. `products.price` lists a property within an object or the objects of a
 * list. Sluice's own events, whose names begin with `$`, are limited like all others.
 */
export function compileAllowedData(entries: readonly AllowedData[]): LimitData | undefined {
  if (entries.length === 0) return undefined;
  const ofAll = entries.filter(({ name }) => name === everyEvent).flatMap(({ properties }) => properties);
  const byName = new Map<string, string[]>();
  for (const { name, properties } of entries) {
    const key = name.toLowerCase();
    byName.set(key, [...(byName.get(key) ?? ofAll), ...properties]);
  }
  const compiled = new Map([...byName].map(([name, properties]) => [name, compileList(properties)]));
  const others = compileList(ofAll);
  return (eventName, properties) => (compiled.get(eventName.toLowerCase()) ?? others)(properties);
}

type Limit = (from: JsonObject) => JsonObject;

function compileList(paths: readonly string[]): Limit {
  const whole = new Set(paths.filter((path) => !path.includes('.')));
  const within = new Map<string, string[]>();
  for (const path of paths) {
    const dot = path.indexOf('.');
    if (dot === -1 || whole.has(path.slice(0, dot))) continue;
    within.set(path.slice(0, dot), [...(within.get(path.slice(0, dot)) ?? []), path.slice(dot + 1)]);
  }
  // The name of a property may itself contain dots.
  const named = new Set(paths);
  const inner = new Map([...within].map(([name, rest]) => [name, compileList(rest)]));
  return (from) => {
    const kept: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(from)) {
      const limit = inner.get(name);
      if (name === '__proto__') continue;
      if (named.has(name)) copyMember(kept, name, from);
      else if (limit !== undefined && isJsonObject(value)) kept[name] = limit(value);
      else if (limit !== undefined && Array.isArray(value)) {
        kept[name] = value.filter((item) => isJsonObject(item)).map((item) => limit(item));
      }
    }
    return kept;
  };
}
