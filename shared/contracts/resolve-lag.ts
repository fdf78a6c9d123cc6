import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { assertId } from './subjects.ts';

/**
 * The number of a step of time since the epoch, and the longest time that an event waited for the resolver in it, in
 * ms.
 */
export type LagStep = readonly [number, number];

/**
 * The lag of the whole log as one pipeline measured it, oldest step first; steps without a measurement are left out.
 */
export type LagRecord = {
  /** The last quarter of an hour. */
  readonly minutes: readonly LagStep[];
  /** All stored hours, including those of `minutes`. */
  readonly hours: readonly LagStep[];
};

/** The key of a pipeline's record in the HEALTH bucket. */
export const lagKey = (instanceId: string): string => `resolve-lag.${assertId(instanceId)}`;
export const allLags = 'resolve-lag.*';

const steps = Type.Array(Type.Tuple([Type.Integer(), Type.Number({ minimum: 0 })]));
const isLag = Compile(Type.Object({ minutes: steps, hours: steps }));

export function encodeLagRecord(record: LagRecord): Uint8Array {
  return encodeJson(record);
}

/** Returns undefined for a format that this build does not know. */
export function decodeLagRecord(bytes: Uint8Array | undefined): LagRecord | undefined {
  const value = decodeJson(bytes);
  return isLag.Check(value) ? { minutes: value.minutes, hours: value.hours } : undefined;
}
