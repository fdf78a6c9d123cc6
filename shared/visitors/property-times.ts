import type { JsonObject } from '../runtime/json.ts';
import { isJsonObject } from '../runtime/json.ts';
import { clickIdsProperty } from '../contracts/events/click-ids.ts';

/**
 * The time of each property's last write or clear, in ms since the epoch, by a key that names it. A property without a
 * time was written before times were stored, or never: any other value is newer.
 */
export type PropertyTimes = ReadonlyMap<string, number>;

export const noTimes: PropertyTimes = new Map();

/** Properties whose members each have a time. */
export type Container = 'custom_properties' | 'consent';

const containers: ReadonlyMap<string, string> = new Map<Container, string>([
  ['custom_properties', '1'],
  ['consent', '2'],
]);

export const isContainer = (name: string): name is Container => containers.has(name);

/** The key of a property. */
export const timeKey = (name: string): string => `0${name}`;

/** The property of a key; undefined for a member's key. */
export const nameOfKey = (key: string): string | undefined => (key.startsWith('0') ? key.slice(1) : undefined);

/** The property of a key, and the member if it is a member's key. */
export function pathOfKey(key: string): readonly [name: string, member: string | undefined] {
  const rest = key.slice(1);
  for (const [container, prefix] of containers) if (key.startsWith(prefix)) return [container, rest];
  return [rest, undefined];
}

/** The key of a container's member. */
export const memberKey = (container: Container, name: string): string => `${containers.get(container) ?? ''}${name}`;

/** Maximum number of cleared names with a stored time: the newest ones. A name that is too long has no stored time. */
const clearedMax = 64;
const clearedCharactersMax = 256;
/**
 * Maximum number of properties with a time of their own. If there are more, the oldest ones share the newest of their
 * times.
 */
const ownTimesMax = 512;

/** The times, reduced to the limits `ownTimesMax` and `clearedMax`. */
export function boundedTimes(times: PropertyTimes, value: JsonObject): PropertyTimes {
  if (times.size <= clearedMax) return times;
  const present = new Set(presentKeys(value));
  const newestFirst = [...times].toSorted(([, one], [, other]) => other - one);
  const cleared = newestFirst.filter(([key]) => !present.has(key) && key.length <= clearedCharactersMax);
  const own = newestFirst.filter(([key]) => present.has(key));
  const leastMs = own[ownTimesMax]?.[1] ?? 0;
  return new Map([
    ...own.map(([key, time]) => [key, Math.max(time, leastMs)] as const),
    ...cleared.slice(0, clearedMax),
  ]);
}

/**
 * The stored form of the times: `[base, [time, key, …], …]`. A present property without an entry has the time `base`,
 * so that the times of a visitor with all properties from one event take 15 bytes. Undefined if there are no times.
 */
export function encodeTimes(times: PropertyTimes, value: JsonObject): string | undefined {
  if (times.size === 0) return undefined;
  const present = presentKeys(value);
  const base = baseOf(present.map((key) => times.get(key) ?? 0));
  const groups = new Map<number, string[]>();
  const put = (key: string, time: number): void => {
    const group = groups.get(time);
    if (group === undefined) groups.set(time, [key]);
    else group.push(key);
  };
  const named = new Set(present);
  for (const key of present) if ((times.get(key) ?? 0) !== base) put(key, times.get(key) ?? 0);
  for (const [key, time] of times) if (!named.has(key)) put(key, time);
  return JSON.stringify([base, ...[...groups].map(([time, keys]) => [time, ...keys])]);
}

/** Reads the result of `encodeTimes` for a visitor with these properties. Unreadable text counts as no times. */
export function decodeTimes(text: string | undefined, value: JsonObject): PropertyTimes {
  if (text === undefined) return noTimes;
  const stored: unknown = JSON.parse(text);
  if (!Array.isArray(stored)) return noTimes;
  const [base, ...groups] = stored as readonly unknown[];
  const times = new Map<string, number>();
  if (typeof base === 'number' && base !== 0) for (const key of presentKeys(value)) times.set(key, base);
  for (const group of groups) {
    if (!Array.isArray(group)) continue;
    const [time, ...keys] = group as readonly unknown[];
    for (const key of keys) {
      if (typeof key !== 'string' || typeof time !== 'number') continue;
      if (time === 0) times.delete(key);
      else times.set(key, time);
    }
  }
  return times;
}

/** Keys of present properties. Click ids have none, because they contain their times. */
function presentKeys(value: JsonObject): readonly string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    if (name === clickIdsProperty) return [];
    if (!isContainer(name) || !isJsonObject(member)) return [timeKey(name)];
    return Object.keys(member).map((key) => memberKey(name, key));
  });
}

/** The most frequent time; 0 counts as a time. */
function baseOf(times: readonly number[]): number {
  const counts = new Map<number, number>();
  let base = 0;
  for (const time of times) {
    const count = (counts.get(time) ?? 0) + 1;
    counts.set(time, count);
    if (count > (counts.get(base) ?? 0)) base = time;
  }
  return base;
}
