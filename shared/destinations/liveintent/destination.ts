import { normaliseText } from '../../routing/modifications/personal-data.ts';
import { md5 } from '../../routing/modifications/digests.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { rowRefusal } from '../sdk/answers.ts';
import { browserContext } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { conversionEvents } from '../sdk/conversion-events.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { secondsOf, sentEvent } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { hashPerson, isHash, knownPerson, normaliseEmail } from '../sdk/person.ts';
import { baseUrl, batchSize, matching, requiredText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { acceptsUnlimitedEvents } from '../sdk/limited-data-use.ts';
import { adSettings } from '../sdk/reading-settings.ts';

const settings = {
  customerId: requiredText({
    label: 'Customer ID',
    placeholder: '12345',
    sublabel: 'From your account manager, like the token and pixel.',
    example: '12345',
  }),
  apiToken: token({
    label: 'Authorization token',
    sublabel: 'LiveIntent changes the key from time to time and announces it.',
    example: 'example',
  }),
  pixelId: requiredText(
    { label: 'Pixel ID', placeholder: '44489', sublabel: 'The numeric ID of the conversion.', example: '44489' },
    matching(/^\d{1,15}$/, 'must be a number'),
  ),
  conversionEvents: conversionEvents(),
  batchSize: batchSize({ max: 100, fallback: 100 }),
  ...adSettings,
  baseUrl: baseUrl('https://conversions.liveintent.com'),
};

/**
 * LiveIntent, Conversions API 1.0.0: `POST /conversions/{customer}`, a JSON array.
 * https://conversions.liveintent.com/api-guide; the limit of 100 rows comes from
 * https://docs.dataflysignal.com/integrations/advertising/liveintent. A conversion is matched by hashes of the e-mail
 * address, or by IP address and browser. Since conversions have no names, a setting selects which events are sent. A
 * 204 means that all rows were accepted, a 200 that some were refused, without naming them. The event id is `eventId`,
 * by which LiveIntent deduplicates.
 */
export const liveIntent = defineDestination({
  id: 'LiveIntent',
  label: 'LiveIntent Conversions API',
  settings,
  facts: {
    sends: 'Conversions',
    limits: { events: 100 },
    deduplicatesBy: 'eventId',
    errors: 'status; a 200 means that some rows were refused, without naming them',
    sources: [
      'https://conversions.liveintent.com/api-guide',
      'https://docs.dataflysignal.com/integrations/advertising/liveintent',
    ],
    checked: '2026-11-22',
    version: 'unversioned',
  },
  loadPlatform: async () => (await import('./platform.ts')).liveIntentPlatform,
  exampleSuccess: { status: 204, body: '' },
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/conversions/${encodeURIComponent(given.customerId.trim())}`;
  const headers = { authorization: `Bearer ${given.apiToken}` };
  const source = { pixelId: Number(given.pixelId), source: 'web' };
  return {
    batchEventsMax: given.batchSize,
    accepts: (event) => acceptsUnlimitedEvents(event) && given.conversionEvents(event),
    buildRequest(events) {
      const body = events.map((event) => ({ ...source, ...conversion(sentEvent(event, given)) }));
      return postJson({ url, headers, body, events });
    },
    readAnswer: ({ status }, events) =>
      status === 200 ? events.map(() => ({ kind: 'reject', reason: rowRefusal(), unnamed: 'some' })) : undefined,
  };
}

function conversion(event: SentEvent): JsonObject {
  const { value, currency } = commerceOf(event);
  return {
    eventId: event.deduplicationId,
    eventTime: secondsOf(event),
    userData: userData(event),
    purchaseData: present({ currency, value, sourceUrl: browserContext(event).url }),
  };
}

function userData(event: SentEvent): JsonObject {
  const person = knownPerson(event);
  const { email: sha2 } = hashPerson(person);
  const { ip, userAgent } = browserContext(event);
  if (sha2 === undefined && (ip === undefined || userAgent === undefined)) {
    throw new UnfitEventError('LiveIntent needs an e-mail address, or both an IP address and a User-Agent');
  }
  return { ...present({ sha2, md5: md5Email(person.email), ip, ua: userAgent }) };
}

function md5Email(text: string | undefined): string | undefined {
  const email = text === undefined || isHash(text) ? undefined : normaliseEmail(text);
  return email === undefined ? undefined : md5(normaliseText(email));
}
