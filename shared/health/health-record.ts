import { assertId } from '../log/subjects.ts';

/** One minute in the stored form: minute since the epoch, succeeded, failed, stopped, globalStop. */
export type HealthMinute = readonly [number, number, number, number, number];

/** What one pipeline instance has counted of one destination in the last 24 hours, or a part of it. */
export type HealthRecord = {
  readonly v: 1;
  /** Minutes in which something happened, oldest first. */
  readonly minutes: readonly HealthMinute[];
  /** Ms since the epoch. */
  readonly lastDispatchedAt: number | null;
};

/**
 * A window is two entries of the HEALTH bucket: the minutes of late, which are written up to four times a second, and
 * all before them, which are written now and then. In one entry each write would grow to a whole day of minutes.
 */
export const recentHealthKey = (destinationId: string, instanceId: string): string =>
  `destination.${assertId(destinationId)}.${assertId(instanceId)}`;
export const pastHealthKey = (recentKey: string): string => `${recentKey}.past`;
export const allHealth = 'destination.*.>';

/**
 * The window the two entries hold. A minute that both have is counted as the recent one says: it is written last, and
 * what it does not count yet was not acknowledged.
 */
export function joinHealth(past: HealthRecord | undefined, recent: HealthRecord): HealthRecord {
  if (past === undefined) return recent;
  const known = new Set(recent.minutes.map(([minute]) => minute));
  const minutes = [...past.minutes.filter(([minute]) => !known.has(minute)), ...recent.minutes];
  return { ...recent, minutes: minutes.toSorted(([a], [b]) => a - b) };
}
