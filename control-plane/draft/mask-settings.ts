import type { JsonObject } from '../../shared/runtime/json.ts';
import { isSealed } from '../../shared/contracts/config/secrets.ts';

/** What a secret reads as; sent back it leaves the stored value. */
export const secretMask = '********';

/** Settings as a client may read them. */
export function maskSettings(settings: JsonObject | null): JsonObject | null {
  if (settings === null) return null;
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [key, isSealed(value) ? secretMask : value]),
  );
}
