import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { assertId } from './subjects.ts';

// Records about a source in the HEALTH bucket. A gateway records when the source was last used, and the outcomes of its
// events; a pipeline records when an event last reached a destination. Times are in ms since the epoch; null means
// never.

/** Outcomes of a source's events at a gateway. `test` counts events that were stored and sent with the test key. */
export const sourceCounts = ['stored', 'test', 'lost', 'invalid', 'limited', 'forbidden'] as const;

export type SourceCounts = Readonly<Record<(typeof sourceCounts)[number], number>>;

/**
 * The counts of one step of time as stored: its number since the epoch, then the counts in the order of `sourceCounts`.
 */
export type SourceStep = readonly [number, number, number, number, number, number, number];

/** An event that a gateway rejected as invalid. `problem` names the field, without its value. */
export type InvalidEvent = { readonly at: number; readonly problem: string };

/** The counts of one gateway for one source, or a part of them. Steps without events are left out. */
export type SourceRecord = {
  readonly lastTriggeredAt: number | null;
  /** The last quarter of an hour, oldest first. */
  readonly minutes: readonly SourceStep[];
  /** All stored hours, including those of `minutes`, oldest first. */
  readonly hours: readonly SourceStep[];
  /** The newest invalid event; null in the entry of past hours. */
  readonly lastInvalid: InvalidEvent | null;
};

/**
 * A record has two entries: one with current steps, written every two seconds, and one with finished hours, written
 * once an hour. If they were one entry, each write would contain a week of hours.
 */
export const sourceKey = (sourceId: string, instanceId: string): string =>
  `source.${assertId(sourceId)}.${assertId(instanceId)}`;
export const pastSourceKey = (recentKey: string): string => `${recentKey}.past`;
export const allSources = 'source.*.>';

export const dispatchedKey = (sourceId: string, instanceId: string): string =>
  `source-dispatch.${assertId(sourceId)}.${assertId(instanceId)}`;
export const allDispatched = 'source-dispatch.*.*';

const instant = Type.Union([Type.Number(), Type.Null()]);
const count = Type.Number({ minimum: 0 });
const steps = Type.Optional(Type.Array(Type.Tuple([Type.Integer(), count, count, count, count, count, count])));
const lastInvalid = Type.Optional(
  Type.Union([Type.Object({ at: Type.Number(), problem: Type.String() }), Type.Null()]),
);
const isSource = Compile(Type.Object({ lastTriggeredAt: instant, minutes: steps, hours: steps, lastInvalid }));
const isDispatched = Compile(Type.Object({ lastDispatchedAt: instant }));

export function encodeSourceRecord(record: SourceRecord): Uint8Array {
  return encodeJson(record);
}

/** Returns undefined for a format that this build does not know. Records of earlier builds have no counts. */
export function decodeSourceRecord(bytes: Uint8Array | undefined): SourceRecord | undefined {
  const value = decodeJson(bytes);
  if (!isSource.Check(value)) return undefined;
  const { lastTriggeredAt, minutes = [], hours = [], lastInvalid = null } = value;
  return { lastTriggeredAt, minutes, hours, lastInvalid };
}

/** Joins the two entries of a record. For an hour that both contain, the recent entry applies: it is written last. */
export function joinSourceRecords(past: SourceRecord | undefined, recent: SourceRecord): SourceRecord {
  if (past === undefined) return recent;
  const known = new Set(recent.hours.map(([hour]) => hour));
  const hours = [...past.hours.filter(([hour]) => !known.has(hour)), ...recent.hours];
  return { ...recent, hours: hours.toSorted(([a], [b]) => a - b) };
}

export function encodeDispatched(lastDispatchedAt: number | null): Uint8Array {
  return encodeJson({ lastDispatchedAt });
}

/** Returns undefined for a format that this build does not know. */
export function decodeDispatched(bytes: Uint8Array): number | null | undefined {
  const value = decodeJson(bytes);
  return isDispatched.Check(value) ? value.lastDispatchedAt : undefined;
}

/** The newest of these invalid events; null if there is none. */
export function newestInvalid(events: readonly (InvalidEvent | null | undefined)[]): InvalidEvent | null {
  let newest: InvalidEvent | null = null;
  for (const one of events) if (one != null && (newest === null || one.at > newest.at)) newest = one;
  return newest;
}
