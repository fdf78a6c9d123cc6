import { textForm } from '../../routing/values/value-forms.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent, PreparedDestination } from '../sdk/destination.ts';
import { conversionIdOf, eventList, otherConversions } from '../sdk/event-list.ts';
import { sentEvent } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import { e164Of, hashDatum, hashPerson, knownPerson } from '../sdk/person.ts';
import { baseUrl, matching, requiredText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { oauth1Header } from './oauth1.ts';
import { adSettings } from '../sdk/reading-settings.ts';

const standardUrl = 'https://ads-api.x.com';
const batchEventsMax = 500;

const settings = {
  pixelId: requiredText(
    { label: 'Pixel ID', placeholder: 'o8z6j', sublabel: 'From Events Manager, base tag.', example: 'o8z6j' },
    matching(/^[a-z0-9]{1,20}$/, 'must be letters and digits'),
  ),
  eventId: requiredText(
    {
      label: 'Event ID',
      placeholder: 'tw-o8z6j-o87ne',
      sublabel: 'From an event created in Events Manager for the Conversions API.',
      example: 'tw-o8z6j-o87ne',
    },
    matching(/^(tw-[a-z0-9]+-)?[a-z0-9]{1,20}$/, 'must be an event ID such as tw-o8z6j-o87ne'),
  ),
  eventNames: eventList(),
  otherConversions: otherConversions(/^(tw-[a-z0-9]+-)?[a-z0-9]{1,20}$/, 'Signed Up = tw-o8z6j-o87nf'),
  consumerKey: token({ label: 'API key', sublabel: 'From an app with access to the Ads API.', example: 'example-key' }),
  consumerSecret: token({ label: 'API key secret', example: 'example-key-secret' }),
  accessToken: token({ label: 'Access token', sublabel: 'From a user of the ad account.', example: 'example-token' }),
  accessTokenSecret: token({ label: 'Access token secret', example: 'example-token-secret' }),
  ...adSettings,
  baseUrl: baseUrl(standardUrl),
};

/**
 * X Ads, web conversions: `POST /12/measurement/conversions/{pixel}`, signed with OAuth 1.0a, up to 500 events, which
 * X accepts or refuses as a whole. https://docs.x.com/x-ads-api/measurement/web-conversions and
 * https://developer.x.com/en/docs/x-ads-api/measurement/web-conversions/conversions. X identifies a conversion by the
 * id of an Events Manager event, not by name. The event id is `conversion_id`, which deduplicates against the pixel.
 */
export const xAds = defineDestination({
  id: 'XAds',
  label: 'X Ads Conversions API',
  settings,
  facts: {
    sends: 'The events that are conversions of Events Manager',
    limits: { events: batchEventsMax, rate: '100,000 requests in 15 minutes' },
    deduplicatesBy: 'conversion_id',
    errors: 'status of the whole request',
    sources: [
      'https://developer.x.com/en/docs/x-ads-api/measurement/web-conversions/conversions',
      'https://docs.x.com/x-ads-api/measurement/web-conversions',
    ],
    checked: '2026-11-22',
    version: { name: '12', ends: undefined },
    namesElsewhere: ['TWITTER_ADS', 'XPIXEL', 'X Conversions API'],
  },
  loadPlatform: async () => (await import('./platform.ts')).xAdsPlatform,
  prepare,
});

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/12/measurement/conversions/${given.pixelId}`;
  const own = { names: given.eventNames, id: given.eventId };
  const idOf = (event: OutboundEvent) => conversionIdOf(event, own, given.otherConversions);
  return {
    batchEventsMax,
    // X has no field for limited use, so a limited event is skipped.
    accepts: (event) => idOf(event) !== undefined && !isLimited(sentEvent(event)),
    buildRequest(events, nowMs) {
      const conversions = events.map((event) => conversionOf(sentEvent(event, given), idOf(event) ?? given.eventId));
      const request = postJson({ url, body: { conversions }, events });
      const nonceOf = request.headers['idempotency-key'] ?? '';
      const authorization = oauth1Header({ method: 'POST', url, credentials: given, nonceOf, nowMs });
      return { ...request, headers: { ...request.headers, authorization } };
    },
  };
}

function conversionOf(event: SentEvent, eventId: string): JsonObject {
  const { value, currency, items, itemCount } = commerceOf(event);
  return {
    conversion_time: new Date(event.timeMs).toISOString(),
    event_id: eventId,
    identifiers: identifiersOf(event),
    conversion_id: event.deduplicationId,
    value: value?.toString(),
    price_currency: value === undefined ? undefined : currency,
    number_items: itemCount !== undefined && itemCount > 0 ? itemCount : undefined,
    contents:
      items.length === 0
        ? undefined
        : items.map(({ id, name, category, price, quantity, others }) => ({
            content_id: id,
            content_name: name,
            content_type: category,
            // X takes a price as text with a decimal point.
            content_price: Number.isInteger(price) ? price?.toFixed(2) : price?.toString(),
            content_group_id: textForm(others['item_group_id']) ?? textForm(others['content_group_id']),
            num_items: quantity,
          })),
  };
}

/**
 * One object per identifier; IP address and User-Agent share one object because neither suffices alone. Throws
 * UnfitEventError unless there is a click id, an e-mail address or a phone number.
 */
function identifiersOf(event: SentEvent): readonly JsonObject[] {
  const person = knownPerson(event);
  const email = hashPerson(person).email;
  const phone = hashDatum(person.phone, e164Of(person));
  const click = browserId(event, ['twclid']);
  const { ip, userAgent } = browserContext(event);
  const primary = [
    ...(click === undefined ? [] : [{ twclid: click }]),
    ...(email === undefined ? [] : [{ hashed_email: email }]),
    ...(phone === undefined ? [] : [{ hashed_phone_number: phone }]),
  ];
  if (primary.length === 0) throw new UnfitEventError('X needs its click id, an e-mail address or a phone number');
  return ip === undefined || userAgent === undefined
    ? primary
    : [...primary, { ip_address: ip, user_agent: userAgent }];
}
