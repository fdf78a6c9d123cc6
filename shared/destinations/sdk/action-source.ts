import { textOf } from './event.ts';
import type { SentEvent } from './event.ts';

/**
 * Meta's spelling, which other platforms copied, and the spelling of RudderStack's events for Snap.
 */
const names = ['action_source', 'actionSource', 'event_conversion_type', 'eventConversionType'] as const;

/**
 * The place of origin that the event declares, where the platform has that value. Case-insensitive.
 */
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
