import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { SentEvent } from './event.ts';
import { isLimited } from './limited-data-use.ts';

/**
 * Translates `ad_user_data` and `ad_personalization` of an event's `consent` property, each `GRANTED` or `DENIED`, into
 * a Google API's words. Both are denied for an event for limited use, whatever is granted. Undefined if nothing is set.
 */
export function googleConsent(
  event: SentEvent,
  words: { readonly granted: string; readonly denied: string },
): JsonObject | undefined {
  if (isLimited(event)) return { adUserData: words.denied, adPersonalization: words.denied };
  const { consent } = event.properties;
  const given = isJsonObject(consent) ? consent : {};
  const wordFor = (value: unknown): string | undefined => {
    if (value === 'GRANTED') return words.granted;
    return value === 'DENIED' ? words.denied : undefined;
  };
  const adUserData = wordFor(given['ad_user_data']);
  const adPersonalization = wordFor(given['ad_personalization']);
  return adUserData === undefined && adPersonalization === undefined ? undefined : { adUserData, adPersonalization };
}
