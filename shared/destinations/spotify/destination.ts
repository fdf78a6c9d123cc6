import type { JsonObject } from '../../runtime/json.ts';
import { browserContext } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents, sentEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { listOf, present } from '../sdk/json.ts';
import { hashPerson, knownPerson } from '../sdk/person.ts';
import { baseUrl, batchSize, choice, requiredText, toggle, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import { deduplicationProperty, defaultCurrency } from '../sdk/reading-settings.ts';
import { namedActionSource } from '../sdk/action-source.ts';
import { deviceOf, isOfApp } from '../sdk/device.ts';

const settings = {
  connectionId: requiredText({
    label: 'Connection ID',
    placeholder: '00000000-0000-4000-8000-000000000000',
    sublabel: 'From Spotify Ads Manager, Events, Connect data source, Conversions API.',
    example: '00000000-0000-4000-8000-000000000001',
  }),
  accessToken: token({
    label: 'Access token',
    sublabel: 'Next to the connection ID. It does not expire; up to three may be in use.',
    example: 'example',
  }),
  actionSource: choice({
    label: 'Action source',
    sublabel: 'Where events happen.',
    options: ['WEB', 'APP', 'OFFLINE'],
    fallback: 'WEB',
    example: 'WEB',
  }),
  optOutTargeting: toggle({
    label: 'Attribution only',
    sublabel: 'Events are not used for retargeting.',
  }),
  // Spotify publishes no batch limit. Batches are small because one invalid event fails the whole batch.
  batchSize: batchSize({ max: 100, fallback: 20 }),
  deduplicationProperty: deduplicationProperty(),
  defaultCurrency: defaultCurrency('USD'),
  baseUrl: baseUrl('https://capi.spotify.com'),
};

/**
 * Spotify Ads, Conversions API: `POST /capi-direct/events/`. https://developer.spotify.com/documentation/ads-api;
 * names and fields:
 * https://documentation.freshpaint.io/integrations/destinations/direct-response-ads/spotify-conversions-api-early-access/spotify-conversions-api-reference.
 * Spotify accepts only its own event names and `CUSTOM_EVENT_1` to `_5`, so other events are skipped. The event id is
 * `event_id`, which deduplicates against the pixel.
 */
export const spotify = defineDestination({
  id: 'Spotify',
  label: 'Spotify Ads Conversions API',
  settings,
  facts: {
    sends: 'Events that the platform has a name for',
    limits: { events: 100 },
    deduplicatesBy: 'event_id',
    errors: 'status of the whole request',
    limitedUse: 'opt_out_targeting: true',
    sources: [
      'https://documentation.freshpaint.io/integrations/destinations/direct-response-ads/spotify-conversions-api-early-access/spotify-conversions-api-reference',
    ],
    checked: '2026-11-22',
    version: 'unversioned',
    namesElsewhere: ['SPOTIFYPIXEL'],
  },
  loadPlatform: async () => (await import('./platform.ts')).spotifyPlatform,
  exampleSuccess: { status: 200, body: '{"message":"SUCCESS"}' },
  prepare,
});

const eventName = platformEventNames('Spotify');

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/capi-direct/events/`;
  const headers = { authorization: `Bearer ${given.accessToken}` };
  const { actionSource, optOutTargeting } = given;
  return {
    batchEventsMax: given.batchSize,
    accepts: (event) => acceptsCustomerEvents(event) && eventName(sentEvent(event)) !== undefined,
    buildRequest(outbound, nowMs) {
      const events = outbound
        .map((event) => sentEvent(event, given))
        .map((event) => ({
          ...conversion(event, nowMs),
          action_source: sourceOf(event, actionSource),
          opt_out_targeting: optOutTargeting || isLimited(event),
        }));
      const body = { conversion_events: { capi_connection_id: given.connectionId.trim(), events } };
      return postJson({ url, headers, body, events: outbound });
    },
  };
}

const actionSources = ['WEB', 'APP', 'OFFLINE'] as const;

/**
 * The action source that the event names, otherwise the destination's. If the destination's is web, app events still
 * get APP.
 */
function sourceOf(event: SentEvent, standard: string): string {
  return namedActionSource(event, actionSources) ?? (standard === 'WEB' && isOfApp(event) ? 'APP' : standard);
}

function conversion(event: SentEvent, nowMs: number): JsonObject {
  const name = eventName(event);
  if (name === undefined) throw new UnfitEventError('Spotify has no such event');
  const { value, currency, items } = commerceOf(event);
  if (name === 'PURCHASE' && (value === undefined || currency === undefined)) {
    throw new UnfitEventError('Spotify needs the value and currency of a purchase');
  }
  return {
    event_name: name,
    event_id: event.deduplicationId,
    // Spotify refuses future times, so the time of a client clock that is ahead is replaced by the current time.
    event_time: new Date(Math.min(event.timeMs, nowMs)).toISOString(),
    event_source_url: browserContext(event).url,
    event_details: present({
      amount: value,
      currency: value === undefined ? undefined : currency,
      content_name: textOf(event.properties['content_name']) ?? items[0]?.name,
      content_category: textOf(event.properties['content_category']) ?? items[0]?.category,
    }),
    user_data: userData(event),
  };
}

function userData(event: SentEvent): JsonObject {
  const { email, phone } = hashPerson(knownPerson(event));
  const matched = present({
    hashed_emails: listOf(email),
    hashed_phone_number: phone,
    ip_address: browserContext(event).ip,
    device_id: deviceOf(event).advertisingId,
  });
  if (matched === undefined) throw new UnfitEventError('the event has no identifier that Spotify could match');
  return matched;
}
