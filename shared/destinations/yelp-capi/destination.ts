import type { JsonObject } from '../../runtime/json.ts';
import { namedActionSource } from '../sdk/action-source.ts';
import { isOfApp } from '../sdk/device.ts';
import { browserContext } from '../sdk/browser-context.ts';
import { hashText } from '../sdk/capi-person.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { secondsOf, sentEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { listOf, present } from '../sdk/json.ts';
import { hashPerson, knownPerson, hashedMatchingId } from '../sdk/person.ts';
import { baseUrl, batchSize, choice, toggle, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { acceptsUnlimitedEvents } from '../sdk/limited-data-use.ts';
import { adSettings } from '../sdk/reading-settings.ts';

const nameCharactersMax = 100;

const settings = {
  apiKey: token({
    label: 'API key',
    sublabel: 'From your Yelp Fusion app. Yelp enables the Conversions API for the app on request.',
    example: 'example',
  }),
  actionSource: choice({
    label: 'Action source',
    sublabel: 'Where events happen.',
    options: ['website', 'app', 'physical_store'],
    fallback: 'website',
    example: 'website',
  }),
  testMode: toggle({ label: 'Test mode', sublabel: 'Events are validated but not recorded.' }),
  batchSize: batchSize({
    max: 1_000,
    fallback: 500,
    sublabel: 'Maximum events in a request, 1 to 1000. Yelp accepts 50,000 a day.',
  }),
  ...adSettings,
  baseUrl: baseUrl('https://api.yelp.com'),
};

/**
 * Yelp Ads, Conversions API: `POST /v3/conversion/events`, up to 1,000 events.
 * https://docs.developer.yelp.com/docs/conversions-api, as in https://github.com/stape-io/yelp-tag and
 * https://docs.treasure.ai/int/yelp-conversions-api-export-integration.md. Yelp accepts 50,000 events per day and
 * responds 429 beyond that. Names that Yelp does not define get the prefix `custom_`. Yelp deduplicates by event id
 * and name.
 */
export const yelpCapi = defineDestination({
  id: 'YelpCAPI',
  label: 'Yelp Conversions API',
  settings,
  facts: {
    sends: 'Every customer event',
    limits: { events: 1_000, rate: '100 requests per second, 50,000 events per day' },
    deduplicatesBy: 'event_id',
    errors: 'status of the whole request',
    sources: ['https://docs.developer.yelp.com/docs/conversions-api', 'https://github.com/stape-io/yelp-tag'],
    checked: '2026-11-22',
    version: { name: 'v3', ends: undefined },
  },
  loadPlatform: async () => (await import('./platform.ts')).yelpCapiPlatform,
  prepare,
});

const standardName = platformEventNames('YelpCAPI');

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/v3/conversion/events`;
  const headers = { authorization: `Bearer ${given.apiKey}`, accept: 'application/json' };
  return {
    batchEventsMax: given.batchSize,
    accepts: acceptsUnlimitedEvents,
    buildRequest(outbound) {
      const events = outbound.map((event) => conversion(sentEvent(event, given), given.actionSource));
      return postJson({ url, headers, body: { test_event: given.testMode, events }, events: outbound });
    },
  };
}

const actionSources = ['website', 'app', 'physical_store'] as const;

function conversion(event: SentEvent, standardSource: string): JsonObject {
  const ofApp = standardSource === 'website' && isOfApp(event);
  const actionSource = namedActionSource(event, actionSources) ?? (ofApp ? 'app' : standardSource);
  const { value, currency, orderId, items, itemIds, itemCount, searchText } = commerceOf(event);
  return {
    event_id: event.deduplicationId,
    event_time: secondsOf(event),
    event_name: standardName(event) ?? customName(event.name),
    action_source: actionSource,
    event_source_url: actionSource === 'website' ? browserContext(event).url : undefined,
    user_data: userData(event),
    custom_data: present({
      value,
      currency,
      order_id: orderId,
      content_ids: itemIds,
      contents: items.map(({ id, price, quantity }) => ({ id, quantity, item_price: price })),
      content_category: textOf(event.properties['content_category']),
      num_items: itemCount,
      search_string: searchText,
    }),
  };
}

/** A name in Yelp's form of custom events: lower-case letters, digits, `_` and `-`, with the prefix `custom_`. */
function customName(name: string): string {
  const plain = name
    .slice(0, nameCharactersMax)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '_')
    .replaceAll(/^_|_$/g, '');
  if (plain === '') throw new UnfitEventError('the event has no name that Yelp accepts');
  return plain.startsWith('custom_') ? plain : `custom_${plain}`;
}

function userData(event: SentEvent): JsonObject {
  const person = knownPerson(event);
  const hashed = hashPerson(person);
  const { ip, userAgent } = browserContext(event);
  const matched = present({
    em: listOf(hashed.email),
    ph: listOf(hashed.phone),
    external_id: listOf(hashedMatchingId(event)),
    client_ip_address: ip,
  });
  if (matched === undefined) throw new UnfitEventError('the event has no identifier that Yelp could match');
  return {
    ...matched,
    ...present({
      fn: hashText(person.firstName),
      ln: hashText(person.lastName),
      ge: hashed.gender,
      db: hashed.dateOfBirth,
      ct: listOf(hashed.city),
      st: listOf(hashed.state),
      zp: listOf(hashed.zip),
      country: listOf(hashed.country),
      client_user_agent: userAgent,
    }),
  };
}
