import type { JsonObject } from '../../runtime/json.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundRequest, PreparedDestination } from '../sdk/destination.ts';
import { isAboutIds, isIdentify, sentEvent } from '../sdk/event.ts';
import { chainOf, postJson } from '../sdk/http.ts';
import { contactIds } from '../sdk/person.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';
import { baseUrl, choice, optionalText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { nameList } from '../sdk/setting-lists.ts';
import { subscriptionOf, subscriptionSettings } from '../sdk/subscriptions.ts';
import { klaviyoEvent, klaviyoProfile, klaviyoPushToken, klaviyoSubscription, orderedProducts } from './payload.ts';
import { eraseAtKlaviyo } from './erase.ts';

const standardUrl = 'https://a.klaviyo.com';
/** The API revision of this kind; Klaviyo supports a revision for two years. */
const revision = '2026-07-15';

const settings = {
  privateApiKey: token({
    label: 'Private API key',
    placeholder: 'pk_…',
    sublabel:
      'With the scopes events:write and profiles:write; lists:write and subscriptions:write for subscriptions; push-tokens:write for devices.',
    example: 'pk_example',
  }),
  metricNames: choice({
    label: 'Metric names',
    options: [
      { label: "Klaviyo's (Placed Order)", value: 'klaviyo' },
      { label: 'As received (Order Completed)', value: 'own' },
    ],
    sublabel: "Choose As received for flows that were made for Segment's or RudderStack's events.",
    fallback: 'klaviyo',
  }),
  orderedProducts: choice({
    label: 'Products of an order',
    options: [
      { label: 'Also as Ordered Product events', value: 'send' },
      { label: 'In the order only', value: 'omit' },
    ],
    fallback: 'send',
  }),
  devices: choice({
    label: 'Devices',
    options: [
      { label: 'Register push tokens', value: 'register' },
      { label: 'Ignore push tokens', value: 'ignore' },
    ],
    sublabel: 'For app events with a push token. Registering needs a key with the scope push-tokens:write.',
    fallback: 'register',
  }),
  appendTraits: nameList({
    label: 'Traits added to a list',
    placeholder: 'visited_stores',
    sublabel:
      "Values of these traits in an identify are added to the profile's list. Segment's and RudderStack's options fieldsToAppend, fieldsToUnappend and fieldsToUnset work too.",
  }),
  ...subscriptionSettings,
  listId: optionalText({
    label: 'List',
    placeholder: 'Y6nRLr',
    sublabel: "The ID of the list that subscribing events add the person to. The list's opt-in settings apply.",
  }),
  consentSource: optionalText({
    label: 'Consent source',
    placeholder: 'Sluice',
    sublabel: 'Shown in Klaviyo as $source.',
  }),
  defaultCurrency: defaultCurrency(),
  baseUrl: baseUrl(standardUrl),
};

/**
 * Klaviyo, in JSON:API: an event with `POST /api/events` (https://developers.klaviyo.com/en/reference/create_event),
 * the profile of an $identify with `POST /api/profile-import`
 * (https://developers.klaviyo.com/en/reference/create_or_update_profile). One event per request, because the bulk
 * endpoint responds before it validates. Products of an order, subscriptions
 * (https://developers.klaviyo.com/en/reference/bulk_subscribe_profiles) and push tokens
 * (https://developers.klaviyo.com/en/reference/create_push_token) follow in further requests. The event id is
 * `unique_id`, by which Klaviyo deduplicates. An event older than a day is sent as `backfill`.
 */
export const klaviyo = defineDestination({
  id: 'Klaviyo',
  label: 'Klaviyo',
  settings,
  facts: {
    sends: 'Every event as a metric; $identify sets the profile; the events in the settings set consent',
    limits: { events: 1, bytes: 5_000_000 },
    deduplicatesBy: 'unique_id',
    errors: 'status of the request, one event each',
    sources: [
      'https://developers.klaviyo.com/en/reference/create_event',
      'https://developers.klaviyo.com/en/reference/create_or_update_profile',
    ],
    checked: '2026-11-27',
    version: { name: revision, ends: '2028-07-15' },
    skips: { group: 'Klaviyo has no groups', alias: 'Klaviyo merges profiles by the ids in each event' },
    namesElsewhere: ['KLAVIYO_BULK_UPLOAD'],
  },
  loadPlatform: async () => (await import('./platform.ts')).klaviyoPlatform,
  prepare,
  erase: (given) => eraseAtKlaviyo({ baseUrl: given.baseUrl, headers: headersOf(given) }),
});

type Given = SettingsOf<typeof settings>;

function prepare(given: Given): PreparedDestination {
  const headers = headersOf(given);
  return {
    batchEventsMax: 1,
    accepts: (event) => !isAboutIds(event),
    buildRequest(events, nowMs): OutboundRequest {
      const event = onlyEvent(events);
      const ids = contactIds(event);
      if (ids.externalId === undefined && ids.email === undefined && ids.phone === undefined) {
        throw new UnfitEventError('Klaviyo needs an e-mail address, a phone number or an external id');
      }
      const sent = sentEvent(event, given);
      const post = (path: string, data: JsonObject | undefined): readonly OutboundRequest[] =>
        data === undefined ? [] : [postJson({ url: `${given.baseUrl}/api/${path}`, headers, body: { data }, events })];
      const pushToken = given.devices === 'register' ? klaviyoPushToken(sent, ids) : undefined;
      if (isIdentify(event)) {
        return chainOf([
          ...post('profile-import', klaviyoProfile(event, ids, given.appendTraits)),
          ...post('push-tokens', pushToken),
        ]);
      }
      const products = given.orderedProducts === 'send' ? orderedProducts(sent, event, ids, nowMs) : undefined;
      const subscription = subscriptionOf(event, given);
      const origin = { listId: given.listId?.trim(), source: given.consentSource ?? 'Sluice', nowMs };
      const subscribing =
        subscription === undefined
          ? []
          : post(
              `profile-subscription-bulk-${subscription.action === 'subscribe' ? 'create' : 'delete'}-jobs`,
              klaviyoSubscription(subscription, sent, ids, origin),
            );
      const isOptOut = subscription?.action === 'unsubscribe';
      return chainOf([
        // An opt-out precedes its event, which Klaviyo may refuse. It creates the profile of an unknown person.
        ...(isOptOut ? subscribing : []),
        ...post('events', klaviyoEvent(sent, event, ids, { metricNames: given.metricNames, nowMs })),
        ...post('event-bulk-create-jobs', products),
        ...(isOptOut ? [] : subscribing),
        ...post('push-tokens', pushToken),
      ]);
    },
  };
}

function headersOf(given: Given) {
  return {
    authorization: `Klaviyo-API-Key ${given.privateApiKey}`,
    accept: 'application/vnd.api+json',
    'content-type': 'application/vnd.api+json',
    revision,
  };
}
