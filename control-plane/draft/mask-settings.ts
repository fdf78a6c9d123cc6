import type { JsonObject } from '../../shared/runtime/json.ts';
import { isSealed, secretMask } from '../../shared/contracts/config/secrets.ts';

/** Settings in the form that a client may read, with masked secrets. */
export function maskSettings(settings: JsonObject | null): JsonObject | null {
  if (settings === null) return null;
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [key, isSealed(value) ? secretMask : value]),
  );
}
