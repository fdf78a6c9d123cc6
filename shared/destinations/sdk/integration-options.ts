import { integrationsKey } from '../../contracts/events/resolved-event.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { SentEvent } from './event.ts';

/**
 * The options that an event's sender set for a destination in `integrations`. `names` are the
 * platform's names at Segment and RudderStack; case, spaces and bracketed text are ignored.
 */
export function integrationOptions({ context }: SentEvent, names: readonly string[]): JsonObject {
  const all = context[integrationsKey];
  if (!isJsonObject(all)) return {};
  const wanted = new Set(names.map(plainName));
  const [, options] = Object.entries(all).find(([name]) => wanted.has(plainName(name))) ?? [];
  return isJsonObject(options) ? options : {};
}

const plainName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/\([^)]*\)/g, '')
    .replaceAll(/[^a-z0-9]/g, '');
