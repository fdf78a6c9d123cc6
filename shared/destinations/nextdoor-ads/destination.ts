import type { JsonObject } from '../../runtime/json.ts';
import { namedActionSource } from '../sdk/action-source.ts';
import { deviceOf, isOfApp } from '../sdk/device.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { commerceOf } from '../sdk/commerce.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type { PreparedDestination } from '../sdk/destination.ts';
import { acceptsCustomerEvents, secondsOf, sentEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { postJson } from '../sdk/http.ts';
import { present } from '../sdk/json.ts';
import { e164Of, hashDatum, hashPerson, knownPerson, hashedMatchingId } from '../sdk/person.ts';
import { baseUrl, choice, requiredText, toggle, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { isLimited } from '../sdk/limited-data-use.ts';
import { adSettings } from '../sdk/reading-settings.ts';

const actionSources = [
  'website',
  'app',
  'phone_call',
  'chat',
  'email',
  'physical_store',
  'system_generated',
  'other',
] as const;

const settings = {
  dataSourceId: requiredText({
    label: 'Data source ID',
    placeholder: '00000000-0000-4000-8000-000000000000',
    sublabel: 'The pixel ID, from Nextdoor Ads Manager.',
    example: '00000000-0000-4000-8000-000000000001',
  }),
  accessToken: token({
    label: 'Access token',
    sublabel: 'From Nextdoor Ads Manager, Business settings, Ads API.',
    example: 'example',
  }),
  actionSource: choice({
    label: 'Action source',
    sublabel: 'Where events happen. Website events need their page address.',
    options: actionSources,
    fallback: 'website',
    example: 'website',
  }),
  testMode: toggle({ label: 'Test mode', sublabel: 'Marks events as tests.' }),
  ...adSettings,
  baseUrl: baseUrl('https://ads.nextdoor.com'),
};

/**
 * Nextdoor Ads, Conversion API: `POST /v2/api/conversions/track`, one event per request.
 * https://developer.nextdoor.com/reference/conversions-track, personal data:
 * https://developer.nextdoor.com/reference/conversion-data-types. Nextdoor accepts only its own event names and
 * `custom_conversion_1` to `_10`, so other events are skipped. The event id is `event_id`, which deduplicates against
 * the pixel.
 */
export const nextdoorAds = defineDestination({
  id: 'NextdoorAds',
  label: 'Nextdoor Ads Conversion API',
  settings,
  facts: {
    sends: 'Events that the platform has a name for',
    limits: { events: 1 },
    deduplicatesBy: 'event_id',
    errors: 'status',
    limitedUse: 'delivery_optimization: false: the event is used for attribution only',
    sources: [
      'https://developer.nextdoor.com/reference/conversions-track',
      'https://developer.nextdoor.com/reference/conversion-data-types',
    ],
    checked: '2026-11-22',
    version: { name: 'v2', ends: undefined },
    notCarried: ['the partner id, which Nextdoor assigns to partners only'],
    namesElsewhere: ['Nextdoor Conversions API'],
  },
  loadPlatform: async () => (await import('./platform.ts')).nextdoorAdsPlatform,
  prepare,
});

const eventName = platformEventNames('NextdoorAds');

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const url = `${given.baseUrl}/v2/api/conversions/track`;
  const headers = { authorization: `Bearer ${given.accessToken}`, accept: 'application/json' };
  return {
    batchEventsMax: 1,
    accepts: (event) => acceptsCustomerEvents(event) && eventName(sentEvent(event)) !== undefined,
    buildRequest: (events) =>
      postJson({ url, headers, body: conversion(sentEvent(onlyEvent(events), given), given), events }),
  };
}

function conversion(event: SentEvent, given: SettingsOf<typeof settings>): JsonObject {
  const name = eventName(event);
  if (name === undefined) throw new UnfitEventError('Nextdoor has no such event');
  const { url } = browserContext(event);
  const ofApp = given.actionSource === 'website' && isOfApp(event);
  const actionSource = namedActionSource(event, actionSources) ?? (ofApp ? 'app' : given.actionSource);
  const isOnline = actionSource === 'website';
  if (isOnline && url === undefined) {
    throw new UnfitEventError('Nextdoor needs the page address of a website event');
  }
  const { value, currency, orderId, items } = commerceOf(event);
  return {
    event_name: name,
    event_id: event.deduplicationId,
    event_time_epoch: secondsOf(event),
    action_source: actionSource,
    action_source_url: isOnline ? url : undefined,
    data_source_id: given.dataSourceId.trim(),
    // With false, Nextdoor uses the event for attribution only.
    delivery_optimization: !isLimited(event),
    test_event: String(given.testMode),
    app: actionSource === 'app' ? appOf(event) : undefined,
    customer: customer(event),
    custom: present({
      // Nextdoor expects the currency in front of the amount, such as USD12.5.
      order_value: value === undefined || currency === undefined ? undefined : `${currency}${value}`,
      order_id: orderId,
      product_context: items.flatMap(({ id, price, quantity }) =>
        id === undefined ? [] : { id, item_price: price, quantity },
      ),
    }),
  };
}

/** App and device of an app event. Throws UnfitEventError without the app id and operating system. */
function appOf(event: SentEvent): JsonObject {
  const { platform, allowsTracking } = deviceOf(event);
  const id = textOf(event.context['app_namespace']) ?? textOf(event.context['app_id']);
  if (id === undefined || platform === undefined) {
    throw new UnfitEventError('Nextdoor needs the app and operating system of an app event');
  }
  return {
    app_id: id,
    platform,
    ...present({ app_tracking_enabled: allowsTracking, app_version: textOf(event.context['app_version']) }),
  };
}

function customer(event: SentEvent): JsonObject {
  const person = knownPerson(event);
  const hashed = hashPerson(person);
  const { ip, userAgent } = browserContext(event);
  const matched = present({
    email: hashed.email,
    phone_number: hashDatum(person.phone, e164Of(person)),
    external_id: hashedMatchingId(event),
    click_id: browserId(event, ['ndclid', '_ndclid']),
    client_ip_address: ip,
  });
  if (matched === undefined) throw new UnfitEventError('the event has no identifier that Nextdoor could match');
  return {
    ...matched,
    ...present({
      first_name: hashed.firstName,
      last_name: hashed.lastName,
      city: hashed.city,
      state: hashed.state,
      zip_code: hashed.zip,
      country: hashed.country,
      client_user_agent: userAgent,
    }),
  };
}
