import { textOf } from './event.ts';
import type { SentEvent } from './event.ts';

/** The property names: Meta's, which other platforms copied, and RudderStack's for Snap. */
const names = ['action_source', 'actionSource', 'event_conversion_type', 'eventConversionType'] as const;

/**
 * The action source that an event declares, if the platform has that value. Case is ignored.
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
