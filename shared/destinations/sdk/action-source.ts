import { textOf } from './event.ts';
import type { SentEvent } from './event.ts';

/** Where the event itself says that it happened, if the platform has that word: case does not count. */
export function namedActionSource<Source extends string>(
  { properties }: SentEvent,
  sources: readonly Source[],
): Source | undefined {
  const given = (textOf(properties['action_source']) ?? textOf(properties['actionSource']))?.trim().toLowerCase();
  return given === undefined ? undefined : sources.find((source) => source.toLowerCase() === given);
}
