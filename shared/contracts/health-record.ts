import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { isDeliveryCounts } from './delivery-counts.ts';
import type { DeliveryCounts } from './delivery-counts.ts';
import { isWrittenPlace } from './destination-position.ts';
import type { WrittenPlace } from './destination-position.ts';
import { skipReasons } from './missed-ranges.ts';
import type { MissedRange, SkippedRanges } from './missed-ranges.ts';
import { assertId } from './subjects.ts';

/** One minute in the stored form: minute since the epoch, succeeded, failed, stopped, globalStop. */
export type HealthMinute = readonly [number, number, number, number, number];

/** The same of an hour: hour since the epoch, then the counts. */
export type HealthHour = HealthMinute;

/** What one pipeline instance has counted of one destination, or a part of it. */
export type HealthRecord = {
  readonly v: 1;
  /** Minutes of the last 24 hours in which something happened, oldest first. */
  readonly minutes: readonly HealthMinute[];
  /** In the entry of the past: what came before, by the hour, oldest first. */
  readonly hours?: readonly HealthHour[];
  /** Minutes before this one are counted in `hours`. */
  readonly hoursUntil?: number;
  /** Ms since the epoch. */
  readonly lastDispatchedAt: number | null;
  /** How events moved on, and how requests were answered: in the entry of the past all of it, in the recent one what changed since. */
  readonly delivery?: DeliveryCounts;
  /** In the recent entry: the destination is paused, for it refuses its key or token. */
  readonly accessRefused?: true;
  /** In the recent entry: how sending went when it was written. */
  readonly sending?: SendingState;
  /** In the recent entry: what was skipped for the destination. */
  readonly skipped?: SkippedRanges;
  /** The same as earlier builds wrote it, without reasons. */
  readonly missed?: readonly MissedRange[];
  /** In the recent entry of a build that knows no POSITIONS: where the destination stands. */
  readonly place?: WrittenPlace;
};

/** Ms in which half of the last requests were answered, and 95 of 100. */
export type AnswerTimesMs = { readonly half: number; readonly most: number };

/** How a dispatcher asks its destination. */
export type SendingState = {
  /** open: it is left alone for a while. probing: it is tried out, a request at a time. */
  readonly breaker: 'closed' | 'open' | 'probing';
  /** Requests that may be in flight, as the destination has shown it can take. */
  readonly concurrency: number;
  /** Absent before the first answer. */
  readonly answerMs?: AnswerTimesMs;
};

const count = Type.Number({ minimum: 0 });
const ranges = Type.Array(Type.Tuple([count, count, count]));
const steps = Type.Array(Type.Tuple([Type.Integer(), count, count, count, count]));
const isRecord = Compile(
  Type.Object({
    v: Type.Literal(1),
    minutes: steps,
    hours: Type.Optional(steps),
    hoursUntil: Type.Optional(Type.Integer()),
    lastDispatchedAt: Type.Union([Type.Number(), Type.Null()]),
    delivery: Type.Optional(Type.Unknown()),
    accessRefused: Type.Optional(Type.Literal(true)),
    sending: Type.Optional(
      Type.Object({
        breaker: Type.Enum(['closed', 'open', 'probing']),
        concurrency: count,
        answerMs: Type.Optional(Type.Object({ half: count, most: count })),
      }),
    ),
    skipped: Type.Optional(
      Type.Object(Object.fromEntries(skipReasons.map((reason) => [reason, Type.Optional(ranges)]))),
    ),
    missed: Type.Optional(ranges),
    place: Type.Optional(Type.Unknown()),
  }),
);
export function encodeHealthRecord(record: HealthRecord): Uint8Array {
  return encodeJson(record);
}

/** Reads an entry; undefined when it is none this build knows. Parts it does not know are left out: counts still count. */
export function decodeHealthRecord(bytes: Uint8Array | undefined): HealthRecord | undefined {
  const record = decodeJson(bytes);
  if (!isRecord.Check(record)) return undefined;
  const { place, delivery, ...window } = record;
  return {
    ...window,
    ...(isDeliveryCounts.Check(delivery) ? { delivery } : {}),
    ...(isWrittenPlace.Check(place) ? { place } : {}),
  };
}

/**
 * A window is two entries of the HEALTH bucket: the minutes of late, which are written up to four times a second, and
 * all before them, which are written now and then. In one entry each write would grow to a whole day of minutes.
 */
export const recentHealthKey = (destinationId: string, instanceId: string): string =>
  `destination.${assertId(destinationId)}.${assertId(instanceId)}`;
export const pastHealthKey = (recentKey: string): string => `${recentKey}.past`;
/** Matches the recent entries of a destination, one an instance. */
export const recentHealthOfAll = (destinationId: string): string => `destination.${assertId(destinationId)}.*`;
/** Matches both entries of each instance. */
export const healthOfAll = (destinationId: string): string => `destination.${assertId(destinationId)}.>`;
export const allHealth = 'destination.*.>';

/**
 * The window the two entries hold. A minute that both have is counted as the recent one says: it is written last, and
 * what it does not count yet was not acknowledged.
 */
export function joinHealth(past: HealthRecord | undefined, recent: HealthRecord): HealthRecord {
  if (past === undefined) return recent;
  const known = new Set(recent.minutes.map(([minute]) => minute));
  const { hours, hoursUntil = -Infinity } = past;
  const own = recent.minutes.filter(([minute]) => minute >= hoursUntil);
  const minutes = [...past.minutes.filter(([minute]) => !known.has(minute)), ...own];
  const before = hours === undefined ? {} : { hours, hoursUntil };
  return { ...recent, ...before, minutes: minutes.toSorted(([a], [b]) => a - b) };
}
