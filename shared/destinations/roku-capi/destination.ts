import type { JsonObject } from '../../runtime/json.ts';
import { namedActionSource } from '../sdk/action-source.ts';
import { isOfApp } from '../sdk/device.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { hashText } from '../sdk/capi-person.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents, secondsOf, sentEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson, withinBytes } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { hashDatum, hashPerson, knownPerson, normaliseEmail } from '../sdk/person.ts';
import { baseUrl, choice, requiredText, toggle, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import { adSettings } from '../sdk/reading-settings.ts';

const batchEventsMax = 1_000;
const bodyBytesMax = 1_000_000;

const settings = {
  eventGroupId: requiredText({
    label: 'Event group ID',
    placeholder: 'PAbCdEfGh',
    sublabel: 'The event group of your site or app, from Roku Ads Manager, Events.',
    example: 'PAbCdEfGh',
  }),
  apiKey: token({ label: 'API key', sublabel: 'From Roku Ads Manager, Events, Settings.', example: 'example' }),
  eventSource: choice({
    label: 'Event source',
    sublabel: 'Where events happen.',
    options: ['website', 'app', 'phone_call', 'physical_store'],
    fallback: 'website',
    example: 'website',
  }),
  testMode: toggle({ label: 'Test mode', sublabel: 'Events are validated but not recorded.' }),
  ...adSettings,
  baseUrl: baseUrl('https://events.ads.rokuapi.net'),
};

/**
 * Roku Ads, Events API: `POST /v1/events`, up to 1,000 events and 1 MB.
 * https://help.ads.roku.com/en/articles/8880744-events-api; names, fields and limits:
 * https://docs.tealium.com/server-side-connectors/roku-events-api-connector/. Roku has no custom events, so events
 * under other names are skipped. Locations and optional ids whose format is not published are left out. The event id
 * is `event_id`, which deduplicates against the pixel within ten minutes.
 */
export const rokuCapi = defineDestination({
  id: 'RokuCAPI',
  label: 'Roku Events API',
  settings,
  facts: {
    sends: 'Events that the platform has a name for',
    limits: { events: 1_000, bytes: 1_000_000 },
    deduplicatesBy: 'event_id',
    errors: 'status of the whole request',
    limitedUse: 'opt_out: true',
    sources: [
      'https://help.ads.roku.com/en/articles/8880744-events-api',
      'https://docs.tealium.com/server-side-connectors/roku-events-api-connector/',
    ],
    checked: '2026-11-22',
    version: { name: 'v1', ends: undefined },
  },
  loadPlatform: async () => (await import('./platform.ts')).rokuCapiPlatform,
  prepare,
});

const eventName = platformEventNames('RokuCAPI');

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/v1/${given.testMode ? 'test_events' : 'events'}`;
  const headers = { authorization: `Bearer ${given.apiKey}`, accept: 'application/json' };
  return {
    batchEventsMax,
    accepts: (event) => acceptsCustomerEvents(event) && eventName(sentEvent(event)) !== undefined,
    buildRequest(outbound) {
      const events = outbound.map((event) => rokuEvent(sentEvent(event, given), given.eventSource));
      const body = { event_group_id: given.eventGroupId.trim(), events };
      return withinBytes(postJson({ url, headers, body, events: outbound }), bodyBytesMax);
    },
  };
}

const eventSources = ['website', 'app', 'phone_call', 'physical_store'] as const;

function rokuEvent(event: SentEvent, standardSource: string): JsonObject {
  const ofApp = standardSource === 'website' && isOfApp(event);
  const eventSource = namedActionSource(event, eventSources) ?? (ofApp ? 'app' : standardSource);
  const name = eventName(event);
  if (name === undefined) throw new UnfitEventError('Roku has no such event');
  const { url, referrer } = browserContext(event);
  const { value, currency, orderId, itemIds, itemCount, searchText } = commerceOf(event);
  return {
    event_name: name,
    event_type: 'conversion',
    event_source: eventSource,
    event_time: secondsOf(event),
    event_id: event.deduplicationId,
    event_source_url: eventSource === 'website' ? url : undefined,
    referrer_url: referrer,
    opt_out: isLimited(event) ? 'true' : undefined,
    user_data: userData(event),
    custom_data: present({
      value,
      currency,
      order_id: orderId,
      content_ids: itemIds,
      content_name: textOf(event.properties['content_name']),
      content_category: textOf(event.properties['content_category']),
      num_items: itemCount,
      search_string: searchText,
    }),
  };
}

function userData(event: SentEvent): JsonObject {
  const person = knownPerson(event);
  const { ip, userAgent } = browserContext(event);
  const matched = present({
    em: hashDatum(person.email, withoutAlias),
    ph: hashPerson(person).phone,
    client_ip_address: ip,
    aRI: browserId(event, ['rida', 'aRI']),
  });
  if (matched === undefined) throw new UnfitEventError('the event has no identifier that Roku could match');
  return {
    is_hashed: true,
    ...matched,
    ...present({ fn: hashText(person.firstName), ln: hashText(person.lastName), client_user_agent: userAgent }),
  };
}

/** The e-mail address without its plus suffix (`+…` before the @), which Roku removes for every mail provider. */
function withoutAlias(text: string): string | undefined {
  const plain = normaliseEmail(text)?.replace(/\+[^@]*@/, '@');
  return plain?.startsWith('@') === true ? undefined : plain;
}
