import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { assertId } from './subjects.ts';

/** The longest time in ms that an event waited for the resolver in a step of time: steps since the epoch, ms. */
export type LagStep = readonly [number, number];

/** The lag of the whole log as one pipeline measured it; steps without a measurement are left out, oldest first. */
export type LagRecord = {
  /** The last quarter of an hour. */
  readonly minutes: readonly LagStep[];
  /** All stored hours, those minutes included. */
  readonly hours: readonly LagStep[];
};

/** A key of the HEALTH bucket. */
export const lagKey = (instanceId: string): string => `resolve-lag.${assertId(instanceId)}`;
export const allLags = 'resolve-lag.*';

const steps = Type.Array(Type.Tuple([Type.Integer(), Type.Number({ minimum: 0 })]));
const isLag = Compile(Type.Object({ minutes: steps, hours: steps }));

export function encodeLagRecord(record: LagRecord): Uint8Array {
  return encodeJson(record);
}

/** Undefined for a format that this build does not know. */
export function decodeLagRecord(bytes: Uint8Array | undefined): LagRecord | undefined {
  const value = decodeJson(bytes);
  return isLag.Check(value) ? { minutes: value.minutes, hours: value.hours } : undefined;
}
