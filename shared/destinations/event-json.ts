import type { OutboundEvent } from './define.ts';

/** The canonical event with its visitor as JSON text; the name and the properties of a mapping where one applies. */
export function eventJson({ resolved, json, mapped }: OutboundEvent): string {
  const { event, visitor } = resolved;
  if (mapped === undefined) return json ?? JSON.stringify({ event, visitor });
  const renamed = { ...event, event: mapped.eventName, event_properties: mapped.properties };
  return JSON.stringify({ event: renamed, visitor });
}
