import { integrationsKey } from '../../contracts/events/resolved-event.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { SentEvent } from './event.ts';

/**
 * What an event's sender would have a destination do: the options beside its name in `integrations`. `names` are those that
 * the platform goes by at Segment and RudderStack; case, spaces and what stands in brackets do not count.
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
