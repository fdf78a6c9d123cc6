import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../runtime/json.ts';
import { isJsonObject } from '../runtime/json.ts';
import type { TimedProperties } from './apply-properties.ts';
import { decodeTimes, encodeTimes, pathOfKey } from './property-times.ts';
import type { Queryable } from './visitor-statements.ts';

type TimesRow = Readonly<
  Record<'current' | 'merged' | 'before', JsonObject> &
    Record<'current_times' | 'merged_times' | 'before_times', string | null>
>;

/**
 * The survivor's times after a merge is undone, in stored form. Call it before the properties are restored:
 * `restoreSurvivor` compares the values in the same way.
 */
export async function selectTimesBefore(
  db: Queryable,
  accountId: string,
  { survivor, mergeId }: { readonly survivor: string; readonly mergeId: string },
): Promise<(restored: JsonObject) => string | null> {
  const { rows } = await db.query<TimesRow>(
    `select v.properties as current, v.property_times as current_times,
        m.merged_properties as merged, m.merged_times, m.survivor_properties as before, m.survivor_times as before_times
      from visitor_merges m join visitors v on v.account_id = $1 and v.id = $2
      where m.account_id = $1 and m.id = $3`,
    [accountId, survivor, mergeId],
  );
  const [row] = rows;
  if (row === undefined) return () => null;
  const isAsMerged = row.current_times === row.merged_times && isDeepStrictEqual(row.current, row.merged);
  if (isAsMerged) return () => row.before_times;
  const [current, merged, before] = [
    timed(row.current, row.current_times),
    timed(row.merged, row.merged_times),
    timed(row.before, row.before_times),
  ];
  return (restored) => encodeTimes(timesBefore({ current, merged, before }), restored) ?? null;
}

const timed = (value: JsonObject, times: string | null): TimedProperties => ({
  value,
  times: decodeTimes(times ?? undefined, value),
});

type Merged = Readonly<Record<'current' | 'merged' | 'before', TimedProperties>>;

function timesBefore({ current, merged, before }: Merged): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const key of new Set([...current.times.keys(), ...before.times.keys()])) {
    const [now, then] = [valueAt(current.value, key), valueAt(merged.value, key)];
    // For an absent property, only the time shows whether it was cleared again since.
    const isAsMerged =
      isDeepStrictEqual(now, then) && (now !== undefined || current.times.get(key) === merged.times.get(key));
    const time = (isAsMerged ? before : current).times.get(key);
    if (time !== undefined) times.set(key, time);
  }
  return times;
}

function valueAt(value: JsonObject, key: string): unknown {
  const [name, member] = pathOfKey(key);
  const whole = Object.hasOwn(value, name) ? value[name] : undefined;
  if (member === undefined) return whole;
  return isJsonObject(whole) && Object.hasOwn(whole, member) ? whole[member] : undefined;
}
