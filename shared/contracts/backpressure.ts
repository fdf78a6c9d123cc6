import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { assertId } from './subjects.ts';

const ms = Type.Number({ minimum: 0 });
const bytes = Type.Number({ minimum: 0 });

const backpressureReport = Type.Object({
  v: Type.Literal(1),
  /** Accounts with a late destination, and how long the destination's oldest event has waited, in ms. */
  accounts: Type.Array(Type.Tuple([Type.String(), ms])),
  /** How long the oldest accepted event of any account has waited for the resolver; absent if no event is late. */
  resolve: Type.Optional(Type.Object({ ageMs: ms, ageMaxMs: ms })),
  /** Accounts with a queue in INGEST, and the bytes of each queue; earlier versions omit the list. */
  queued: Type.Optional(Type.Array(Type.Tuple([Type.String(), bytes]))),
});

/**
 * The late events and account queues that one pipeline sees. A pipeline writes the report to the LEASES bucket every
 * second while there is something to report; gateways ignore a report that was not repeated for `leaseTtlMs`.
 */
export type BackpressureReport = Static<typeof backpressureReport>;

export const backpressureKey = (instanceId: string): string => `backpressure.${assertId(instanceId)}`;
export const allBackpressure = 'backpressure.*';

const isReport = Compile(backpressureReport);

export function encodeBackpressure(report: BackpressureReport): Uint8Array {
  return encodeJson(report);
}

/** Returns undefined for a format that this build does not know. */
export function decodeBackpressure(bytes: Uint8Array | undefined): BackpressureReport | undefined {
  const report = decodeJson(bytes);
  return isReport.Check(report) ? report : undefined;
}
