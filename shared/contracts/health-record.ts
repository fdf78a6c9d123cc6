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

/** The counts of one minute as stored: the minute since the epoch, succeeded, failed, stopped, globalStop. */
export type HealthMinute = readonly [number, number, number, number, number];

/** The counts of one hour as stored: the hour since the epoch, then the same counts. */
export type HealthHour = HealthMinute;

/** The counts of one pipeline instance for one destination, or a part of them. */
export type HealthRecord = {
  readonly v: 1;
  /** Minutes of the last 24 hours for which there are counts, oldest first. */
  readonly minutes: readonly HealthMinute[];
  /** Only in the past entry: earlier hours, oldest first. */
  readonly hours?: readonly HealthHour[];
  /** Minutes before this minute (since the epoch) are counted in `hours`. */
  readonly hoursUntil?: number;
  /** Ms since the epoch. */
  readonly lastDispatchedAt: number | null;
  /**
   * Moves of events and answers to requests: all of them in the past entry, the changes since then in the recent entry.
   */
  readonly delivery?: DeliveryCounts;
  /** Only in the recent entry: set while the destination is paused because it refuses its key or token. */
  readonly accessRefused?: true;
  /** Only in the recent entry: the state of sending when the entry was written. */
  readonly sending?: SendingState;
  /** Only in the recent entry: ranges of events that were skipped for the destination. */
  readonly skipped?: SkippedRanges;
  /** Skipped ranges of earlier builds, without reasons. */
  readonly missed?: readonly MissedRange[];
  /** Only in the recent entry of a build without POSITIONS: the position of the destination. */
  readonly place?: WrittenPlace;
};

/** Answer times of the last requests in ms: `half` is the median, `most` the 95th percentile. */
export type AnswerTimesMs = { readonly half: number; readonly most: number };

/** The state of a dispatcher's requests to its destination. */
export type SendingState = {
  /** `open` sends no requests for a while, `probing` sends one at a time. */
  readonly breaker: 'closed' | 'open' | 'probing';
  /** Maximum number of requests in flight, which adapts to the destination. */
  readonly concurrency: number;
  /** Absent until the first answer. */
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
/** Whether the reporter skipped events that were resolved around this time, in ms since the epoch. */
export const hasSkipped = ({ skipped = {}, missed = [] }: HealthRecord, atMs: number): boolean =>
  [...missed, ...Object.values(skipped).flat()].some(([fromMs, toMs]) => fromMs <= atMs && atMs < toMs);

export function encodeHealthRecord(record: HealthRecord): Uint8Array {
  return encodeJson(record);
}

/**
 * Reads an entry; undefined for a format that this build does not know. Leaves out unknown parts, but keeps the counts.
 */
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
 * A health window has two entries in the HEALTH bucket: one with recent minutes, written up to four times a second, and
 * one with all earlier counts, written rarely. If they were one entry, each write would contain a whole day of minutes.
 */
export const recentHealthKey = (destinationId: string, instanceId: string): string =>
  `destination.${assertId(destinationId)}.${assertId(instanceId)}`;
export const pastHealthKey = (recentKey: string): string => `${recentKey}.past`;
/** Matches the recent entries of a destination, one per instance. */
export const recentHealthOfAll = (destinationId: string): string => `destination.${assertId(destinationId)}.*`;
/** Matches both entries of each instance. */
export const healthOfAll = (destinationId: string): string => `destination.${assertId(destinationId)}.>`;
export const allHealth = 'destination.*.>';

/**
 * Joins the two entries of a window. For a minute that both contain, the recent entry applies: it is written last, and
 * events that it does not count were not acknowledged.
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
