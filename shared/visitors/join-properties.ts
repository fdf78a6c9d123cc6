import { clickIdsProperty } from '../contracts/events/click-ids.ts';
import type { JsonObject } from '../runtime/json.ts';
import { isJsonObject } from '../runtime/json.ts';
import { applyTimed } from './apply-properties.ts';
import type { TimedProperties } from './apply-properties.ts';
import { isContainer, memberKey, nameOfKey, timeKey } from './property-times.ts';

/**
 * The properties of two visitors that are merged: the last write of each property wins; `custom_properties` and
 * `consent` are joined member by member. At equal times, and without times, `later` wins.
 */
export function joinTimed(earlier: TimedProperties, later: TimedProperties): TimedProperties {
  let joined = earlier;
  for (const { atMs, given } of writesOf(later)) joined = applyTimed(joined, given, { atMs, keepsNewest: true });
  return joined;
}

type Write = { readonly atMs: number; readonly given: Record<string, unknown> };

/** The writes that build these properties from an empty object, in the order of their times; clears come first. */
function writesOf({ value, times }: TimedProperties): readonly Write[] {
  const writes = new Map<number, Write>();
  const at = (key: string): Record<string, unknown> => {
    const atMs = times.get(key) ?? 0;
    let write = writes.get(atMs);
    if (write === undefined)
      writes.set(atMs, (write = { atMs, given: Object.create(null) as Record<string, unknown> }));
    return write.given;
  };
  for (const [name, member] of Object.entries(value)) {
    if (!isContainer(name) || !isJsonObject(member)) {
      at(timeKey(name))[name] = member;
      continue;
    }
    for (const [key, own] of Object.entries(member)) {
      const given = at(memberKey(name, key));
      const members = (given[name] ??= Object.create(null)) as Record<string, unknown>;
      members[key] = own;
    }
  }
  const clears = [...times].flatMap(([key, atMs]): Write[] => {
    const name = nameOfKey(key);
    const isCleared = name !== undefined && name !== clickIdsProperty && isClear(value, name);
    return isCleared ? [{ atMs, given: { [name]: null } }] : [];
  });
  return [...clears, ...[...writes.values()].toSorted((a, b) => a.atMs - b.atMs)];
}

/** Whether the property's time is that of a clear: the property is absent, or its members were set later. */
const isClear = (value: JsonObject, name: string): boolean =>
  !Object.hasOwn(value, name) || (name === 'consent' && isJsonObject(value[name]));
