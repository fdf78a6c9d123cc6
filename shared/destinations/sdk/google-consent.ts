import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { SentEvent } from './event.ts';

/**
 * What the property `consent` says of the use of an event for ads, `{ad_user_data, ad_personalization}`, each `GRANTED` or
 * `DENIED`, in the words of an API of Google. Undefined where it says neither.
 */
export function googleConsent(
  { properties }: SentEvent,
  words: { readonly granted: string; readonly denied: string },
): JsonObject | undefined {
  const given = properties['consent'];
  if (!isJsonObject(given)) return undefined;
  const wordFor = (value: unknown): string | undefined => {
    if (value === 'GRANTED') return words.granted;
    return value === 'DENIED' ? words.denied : undefined;
  };
  const adUserData = wordFor(given['ad_user_data']);
  const adPersonalization = wordFor(given['ad_personalization']);
  return adUserData === undefined && adPersonalization === undefined ? undefined : { adUserData, adPersonalization };
}
