import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { assertId } from './subjects.ts';

const ms = Type.Number({ minimum: 0 });
const bytes = Type.Number({ minimum: 0 });

const backpressureReport = Type.Object({
  v: Type.Literal(1),
  /** Accounts one of whose destinations is late, and how long its oldest event waits, in ms. */
  accounts: Type.Array(Type.Tuple([Type.String(), ms])),
  /** How long the oldest accepted event of all accounts waits to be resolved; absent where that is not late. */
  resolve: Type.Optional(Type.Object({ ageMs: ms, ageMaxMs: ms })),
  /** Accounts whose accepted events wait in a queue of their own in INGEST, and their bytes; earlier versions omit it. */
  queued: Type.Optional(Type.Array(Type.Tuple([Type.String(), bytes]))),
});

/**
 * Events that wait longer than allowed, and events in the queues of accounts, as one pipeline sees them. A pipeline writes it to
 * the LEASES bucket every second while there is any; gateways forget it with the pipeline.
 */
export type BackpressureReport = Static<typeof backpressureReport>;

export const backpressureKey = (instanceId: string): string => `backpressure.${assertId(instanceId)}`;
export const allBackpressure = 'backpressure.*';

const isReport = Compile(backpressureReport);

export function encodeBackpressure(report: BackpressureReport): Uint8Array {
  return encodeJson(report);
}

/** Undefined when it is none this build knows. */
export function decodeBackpressure(bytes: Uint8Array | undefined): BackpressureReport | undefined {
  const report = decodeJson(bytes);
  return isReport.Check(report) ? report : undefined;
}
