import { textOf } from './event.ts';
import type { SentEvent } from './event.ts';

/** Meta's name, which others have after it, and what RudderStack's events for Snap have. */
const names = ['action_source', 'actionSource', 'event_conversion_type', 'eventConversionType'] as const;

/** Where the event itself says that it happened, if the platform has that word: case does not count. */
export function namedActionSource<Source extends string>(
  { properties }: SentEvent,
  sources: readonly Source[],
): Source | undefined {
  const given = names
    .map((name) => textOf(properties[name]))
    .find((text) => text !== undefined)
    ?.trim()
    .toLowerCase();
  return given === undefined ? undefined : sources.find((source) => source.toLowerCase() === given);
}
