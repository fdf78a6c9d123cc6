import type { JsonObject, RecentEvent } from '../api/types.ts';

const pathsMax = 300;
const depthMax = 4;

/** Paths that lead to something in an event, as rules write them: what may be proposed where one is asked for. */
export function eventPaths(event: RecentEvent | undefined): readonly string[] {
  const found = ['event.event', 'event.id', 'event.time', 'event.source_id'];
  if (event === undefined) return found;
  collect('event.event_properties', event.eventProperties, found, 1);
  collect('event.context', event.context, found, 1);
  collect('visitor', event.visitor, found, 1);
  return found;
}

function collect(path: string, holder: JsonObject, found: string[], depth: number): void {
  for (const [name, value] of Object.entries(holder)) {
    if (found.length >= pathsMax) return;
    const inner = `${path}.${name}`;
    // Longer ones are no paths.
    if (inner.length > 500) continue;
    if (typeof value !== 'object' || value === null) found.push(inner);
    else if (depth < depthMax) collect(inner, value as JsonObject, found, depth + 1);
  }
}
