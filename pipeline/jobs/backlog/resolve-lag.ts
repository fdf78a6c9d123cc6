import { decodeLagRecord, encodeLagRecord, lagKey } from '../../../shared/contracts/resolve-lag.ts';
import type { LagRecord, LagStep } from '../../../shared/contracts/resolve-lag.ts';
import type { Bucket } from '../../../shared/nats/buckets/bucket.ts';

const minuteMs = 60_000;
const minutesKept = 16;
const hourMinutes = 60;

/** Records the longest time that an event waited to be resolved, per minute and per hour. */
export type ResolveLag = {
  /**
   * Records how long the oldest event has waited until now, in ms; 0 if none waits. Stores the record if it has
   * changed.
   */
  note(lagMs: number, nowMs: number): Promise<void>;
};

export type ResolveLagOptions = {
  readonly bucket: Bucket;
  readonly instanceId: string;
  /** Number of hours whose values are kept. */
  readonly hoursKept: number;
};

export function createResolveLag({ bucket, instanceId, hoursKept }: ResolveLagOptions): ResolveLag {
  const key = lagKey(instanceId);
  let record: LagRecord | undefined;
  return {
    async note(lagMs, nowMs) {
      // Continues the record that this instance wrote before it was restarted.
      record ??= decodeLagRecord((await bucket.get(key))?.value) ?? { minutes: [], hours: [] };
      const noted = withLag(record, lagMs, { nowMs, hoursKept });
      if (noted === record) return;
      await bucket.put(key, encodeLagRecord(noted));
      record = noted;
    },
  };
}

/** Adds a measured lag to the record; returns the same record if it changes nothing. Pure. */
export function withLag(
  record: LagRecord,
  lagMs: number,
  { nowMs, hoursKept }: { readonly nowMs: number; readonly hoursKept: number },
): LagRecord {
  const minute = Math.floor(nowMs / minuteMs);
  const minutes = withStep(record.minutes, [minute, Math.round(lagMs)], minutesKept);
  const hours = withStep(record.hours, [Math.floor(minute / hourMinutes), Math.round(lagMs)], hoursKept);
  return minutes === record.minutes && hours === record.hours ? record : { minutes, hours };
}

function withStep(steps: readonly LagStep[], [step, lagMs]: LagStep, kept: number): readonly LagStep[] {
  const known = steps.find(([one]) => one === step);
  if (known !== undefined && known[1] >= lagMs) return steps;
  const others = steps.filter(([one]) => one !== step && one > step - kept);
  return [...others, [step, lagMs] as const].toSorted(([a], [b]) => a - b);
}
