import type { OutboundEvent } from './define.ts';

/** The canonical event with its visitor as JSON text; the name and the properties of a mapping where one applies. */
export function eventJson(outbound: OutboundEvent): string {
  const { json, mapped } = outbound;
  if (mapped === undefined && json !== undefined) return json;
  const { event, visitor } = outbound.resolved;
  if (mapped === undefined) return JSON.stringify({ event, visitor });
  const renamed = { ...event, event: mapped.eventName, event_properties: mapped.properties };
  return JSON.stringify({ event: renamed, visitor });
}
