import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';

/**
 * The sender's options for single destinations, in the form of Segment's and RudderStack's libraries. They are kept in
 * the context, where every build reads them, and mappings address them as `event.integrations.<name>.<option>`.
 */
export function integrationOptions(given: unknown): JsonObject | undefined {
  if (!isJsonObject(given)) return undefined;
  const options = Object.entries(given)
    .slice(0, integrationsMax)
    .filter(([name, value]) => name !== '__proto__' && isJsonObject(value) && Object.keys(value).length > 0);
  const found = Object.fromEntries(options);
  return options.length === 0 || JSON.stringify(found).length > optionsCharactersMax ? undefined : found;
}

const optionsCharactersMax = 16_384;

/** Maximum number of destinations that are read from an event; further ones are ignored, except exclusions. */
export const integrationsMax = 100;
