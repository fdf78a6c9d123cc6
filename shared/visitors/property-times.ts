import type { JsonObject } from '../runtime/json.ts';
import { isJsonObject } from '../runtime/json.ts';
import { clickIdsProperty } from '../contracts/events/click-ids.ts';

/**
 * When each property of a visitor was given its value, or cleared, in ms since the epoch: by a key that names it. What has
 * none was given before times were kept, or never: any value is newer.
 */
export type PropertyTimes = ReadonlyMap<string, number>;

export const noTimes: PropertyTimes = new Map();

/** Properties whose members have times of their own. */
export type Container = 'custom_properties' | 'consent';

const containers: ReadonlyMap<string, string> = new Map<Container, string>([
  ['custom_properties', '1'],
  ['consent', '2'],
]);

export const isContainer = (name: string): name is Container => containers.has(name);

/** The key of a property. */
export const timeKey = (name: string): string => `0${name}`;

/** The name of a property that a key is of; undefined for a member of one. */
export const nameOfKey = (key: string): string | undefined => (key.startsWith('0') ? key.slice(1) : undefined);

/** The name of a property that a key is of, and of its member. */
export function pathOfKey(key: string): readonly [name: string, member: string | undefined] {
  const rest = key.slice(1);
  for (const [container, prefix] of containers) if (key.startsWith(prefix)) return [container, rest];
  return [rest, undefined];
}

/** The key of a member of one. */
export const memberKey = (container: Container, name: string): string => `${containers.get(container) ?? ''}${name}`;

/** Cleared names whose times are kept: the last ones, and none that is longer. */
const clearedMax = 64;
const clearedCharactersMax = 256;
/** Properties with a time of their own. Of more, the oldest count as given when the newest of those was. */
const ownTimesMax = 512;

/** The times with no more of them than are kept. */
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
 * The times as they are stored: `[base, [time, key, …], …]`. A property that is there and not named has the base, so that a
 * visitor with all of its properties from one event takes 15 bytes. Undefined where there are none.
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

/** Reads what `encodeTimes` wrote for a visitor with these properties. What it cannot read counts as no times. */
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

/** Keys of what is there. Ids of clicks have their times with them. */
function presentKeys(value: JsonObject): readonly string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    if (name === clickIdsProperty) return [];
    if (!isContainer(name) || !isJsonObject(member)) return [timeKey(name)];
    return Object.keys(member).map((key) => memberKey(name, key));
  });
}

/** The most frequent time; 0 counts as one. */
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
