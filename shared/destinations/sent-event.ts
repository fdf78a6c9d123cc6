import type { ResolvedVisitor } from '../events/resolved-event.ts';
import type { JsonObject } from '../process/json.ts';
import type { OutboundEvent } from './define.ts';
import { outboundName } from './outbound-head.ts';

/** The name of the event that tells who a visitor is. */
export const identifyEvent = '$identify';

/** Whether an event, by the name a mapping gave it or its own, tells who its visitor is. */
export function isIdentify(event: OutboundEvent): boolean {
  return outboundName(event) === identifyEvent;
}

/** An event as a platform kind reads it: the mapping's name and properties where a mapping applies, else its own. */
export type SentEvent = {
  readonly id: string;
  readonly name: string;
  /** When it happened, in ms since the epoch. */
  readonly timeMs: number;
  readonly properties: JsonObject;
  readonly context: JsonObject;
  readonly visitor: ResolvedVisitor;
};

export function sentEvent({ resolved, mapped }: OutboundEvent): SentEvent {
  const { event, visitor } = resolved;
  return {
    id: event.id,
    name: mapped?.eventName ?? event.event,
    timeMs: event.time,
    properties: mapped?.properties ?? event.event_properties,
    context: event.context,
    visitor,
  };
}

/** Text of a property; undefined where it is missing, empty or something else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A finite number, also one written as text; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  const text = textOf(value)?.trim();
  if (text === undefined || !/^-?\d+(\.\d+)?$/.test(text)) return undefined;
  return Number(text);
}
