import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { SentEvent } from './event.ts';
import { isLimited } from './limited-data-use.ts';

/**
 * Translates `ad_user_data` and `ad_personalization` of an event's `consent` property, each `GRANTED` or `DENIED`, into
 * a Google API's words. If an event for limited use sets neither, both are denied. Undefined if nothing is set.
 */
export function googleConsent(
  event: SentEvent,
  words: { readonly granted: string; readonly denied: string },
): JsonObject | undefined {
  const { consent } = event.properties;
  const given = isJsonObject(consent) ? consent : {};
  const wordFor = (value: unknown): string | undefined => {
    if (value === 'GRANTED') return words.granted;
    return value === 'DENIED' ? words.denied : undefined;
  };
  const adUserData = wordFor(given['ad_user_data']);
  const adPersonalization = wordFor(given['ad_personalization']);
  if (adUserData !== undefined || adPersonalization !== undefined) return { adUserData, adPersonalization };
  return isLimited(event) ? { adUserData: words.denied, adPersonalization: words.denied } : undefined;
}
