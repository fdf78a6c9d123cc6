import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { decodeJson, encodeJson } from '../runtime/json.ts';
import { assertId } from './subjects.ts';

// What one process says of a source in the HEALTH bucket: a gateway when it was last used, a pipeline when an event of it
// last reached a destination. Times are in ms since the epoch; null says never.

export const triggeredKey = (sourceId: string, instanceId: string): string =>
  `source.${assertId(sourceId)}.${assertId(instanceId)}`;
export const allTriggered = 'source.*.*';

export const dispatchedKey = (sourceId: string, instanceId: string): string =>
  `source-dispatch.${assertId(sourceId)}.${assertId(instanceId)}`;
export const allDispatched = 'source-dispatch.*.*';

const instant = Type.Union([Type.Number(), Type.Null()]);
const isTriggered = Compile(Type.Object({ lastTriggeredAt: instant }));
const isDispatched = Compile(Type.Object({ lastDispatchedAt: instant }));

export function encodeTriggered(lastTriggeredAt: number | null): Uint8Array {
  return encodeJson({ lastTriggeredAt });
}

/** Undefined when it is none this build knows. */
export function decodeTriggered(bytes: Uint8Array): number | null | undefined {
  const value = decodeJson(bytes);
  return isTriggered.Check(value) ? value.lastTriggeredAt : undefined;
}

export function encodeDispatched(lastDispatchedAt: number | null): Uint8Array {
  return encodeJson({ lastDispatchedAt });
}

/** Undefined when it is none this build knows. */
export function decodeDispatched(bytes: Uint8Array): number | null | undefined {
  const value = decodeJson(bytes);
  return isDispatched.Check(value) ? value.lastDispatchedAt : undefined;
}
