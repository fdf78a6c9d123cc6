import { openFrame } from '../../shared/contracts/events/compressed-frame.ts';
import { FrameError } from '../../shared/contracts/events/frame.ts';
import { readResolvedEvents } from '../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../shared/contracts/events/resolved-event.ts';
import { numberText } from '../../shared/json/exact-numbers.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';

/**
 * The subject of a search: one event by its id, the events of a visitor under any of its ids, or events with a property.
 */
export type LogMatch =
  | { readonly by: 'event'; readonly id: string }
  | { readonly by: 'visitor'; readonly ids: readonly string[] }
  | { readonly by: 'property'; readonly path: readonly string[]; readonly value: string };

export type MatchedEvent = { readonly event: ResolvedEvent; readonly line: number };

/** The matching events of a frame. A frame whose bytes rule out a match is not parsed. */
export function matchFrame(frame: Uint8Array, match: LogMatch): MatchedEvent[] {
  const bytes = openIfReadable(frame);
  if (bytes === undefined || !mayHold(bytes, match)) return [];
  return [...readResolvedEvents(bytes)].filter(({ event }) => isMatch(event, match));
}

function openIfReadable(frame: Uint8Array): Buffer | undefined {
  try {
    return openFrame(frame);
  } catch (error) {
    if (error instanceof FrameError) return undefined;
    throw error;
  }
}

function mayHold(bytes: Buffer, match: LogMatch): boolean {
  switch (match.by) {
    case 'event':
      return bytes.includes(plainPart(match.id));
    case 'visitor':
      return match.ids.some((id) => bytes.includes(plainPart(id)));
    case 'property':
      return bytes.includes(plainPart(match.value));
  }
}

/** The longest part of a text that any JSON writer leaves unchanged. */
function plainPart(text: string): string {
  return text.split(/[^\w.-]+/).reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}

function isMatch({ event, visitor }: ResolvedEvent, match: LogMatch): boolean {
  switch (match.by) {
    case 'event':
      return event.id === match.id;
    case 'visitor':
      return match.ids.includes(visitor.id);
    case 'property': {
      const [last = '', ...path] = match.path.toReversed();
      let holder: unknown = event.event_properties;
      for (const name of path.toReversed()) holder = isJsonObject(holder) ? holder[name] : undefined;
      if (!isJsonObject(holder)) return false;
      const value = holder[last];
      return (
        (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') &&
        (String(value) === match.value || numberText(holder, last) === match.value)
      );
    }
  }
}
