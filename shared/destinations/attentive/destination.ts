import type { JsonObject } from '../../runtime/json.ts';
import { commerceOf } from '../sdk/commerce.ts';
import type { CommerceItem } from '../sdk/commerce.ts';
import { isJsonObject } from '../../runtime/json.ts';
import { textForm } from '../../routing/values/value-forms.ts';
import { integrationOptions } from '../sdk/integration-options.ts';
import { subscriptionOf, subscriptionSettings } from '../sdk/subscriptions.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent, OutboundRequest, PreparedDestination } from '../sdk/destination.ts';
import { eventUuid } from '../sdk/event-ids.ts';
import {
  acceptsCustomerEvents,
  isIdentify,
  outboundName,
  propertiesOf,
  sentEvent,
  textOf,
  traitsOf,
} from '../sdk/event.ts';
import { chainOf, postJson } from '../sdk/http.ts';
import { present, withoutMembers } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';
import { baseUrl, optionalText, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';
import { namedTraits, traitNames } from '../sdk/trait-names.ts';
import { eraseAtAttentive } from './erase.ts';

/** Names of Attentive in Segment and RudderStack. */
const names = ['Attentive', 'Attentive Mobile', 'ATTENTIVE_TAG'] as const;
const hoursMax = 12;
const hourMs = 3_600_000;
const propertiesMax = 200;
const forbiddenInType = /["'(){}[\]\\|,]/g;
const forbiddenInKey = /["{}[\]\\|]/g;
const ownPlace: ReadonlySet<string> = new Set(['email', 'phone_number', 'phone']);

const settings = {
  apiKey: token({
    label: 'API key',
    sublabel:
      'From a private app with the scopes events, e-commerce and attributes. Subscriptions also need subscribers: write.',
    example: 'example',
  }),
  defaultCurrency: defaultCurrency(),
  traitNames: traitNames(),
  ...subscriptionSettings,
  signUpSourceId: optionalText({
    label: 'Sign-up source ID',
    placeholder: '123456',
    sublabel: 'The sign-up unit whose legal text people agreed to. Required for subscribing events.',
  }),
  baseUrl: baseUrl('https://api.attentivemobile.com'),
};

/**
 * Attentive: product views, additions to the cart and purchases use `POST /v1/events/ecommerce/…`, other events `POST
 * /v1/events/custom`, an $identify `POST /v1/attributes/custom`; one event per request.
 * https://docs.attentivemobile.com/openapi/reference/tag/Custom-Events/. A visitor is identified by e-mail address,
 * phone number and the customer's id, at least one of which is required. Events older than 12 hours would start no
 * journey, and are refused, except for opt-outs. Only custom events carry an id for deduplication.
 */
export const attentive = defineDestination({
  id: 'Attentive',
  label: 'Attentive',
  settings,
  facts: {
    sends: 'Every event; $identify sets attributes',
    limits: { events: 1, ageDays: 0.5 },
    // Only custom events have an id for deduplication, `externalEventId`.
    deduplicatesBy: undefined,
    errors: 'status',
    sources: [
      'https://docs.attentivemobile.com/openapi/reference/tag/Custom-Events/',
      'https://github.com/api-evangelist/attentive',
    ],
    checked: '2026-11-22',
    version: { name: 'v1', ends: undefined },
    skips: { group: 'Attentive has no groups', alias: 'people are identified by their addresses' },
    namesElsewhere: names,
  },
  loadPlatform: async () => (await import('./platform.ts')).attentivePlatform,
  prepare,
  erase: eraseAtAttentive,
});

const commercePath = platformEventNames('Attentive');

function prepare(given: SettingsOf<typeof settings>): PreparedDestination {
  const base = `${given.baseUrl}/v1`;
  const headers = { authorization: `Bearer ${given.apiKey}` };
  return {
    batchEventsMax: 1,
    accepts: (event) => isIdentify(event) || acceptsCustomerEvents(event),
    buildRequest(events, nowMs) {
      const event = onlyEvent(events);
      const post = ({ path, body }: Call): OutboundRequest =>
        postJson({ url: `${base}${path}`, headers, body: { user: userOf(event), ...body }, events });
      if (isIdentify(event)) return post(attributes(event, given));
      const subscription = subscribed(event, given);
      // An opt-out is sent first, and at any age, because Attentive may refuse the event. An opt-in is sent last: each
      // repetition would be a message to the person.
      if (subscription?.path !== unsubscribePath) {
        return chainOf([tracked(event, given, nowMs), ...(subscription === undefined ? [] : [subscription])].map(post));
      }
      return chainOf([subscription, ...(isOld(event, nowMs) ? [] : [tracked(event, given, nowMs)])].map(post));
    },
  };
}

/**
 * The call with which an event opts its visitor in or out, if any:
 * https://docs.attentivemobile.com/openapi/reference/tag/Subscribers/.
 */
function subscribed(event: OutboundEvent, given: SettingsOf<typeof settings>): Call | undefined {
  const subscription = subscriptionOf(event, given);
  if (subscription === undefined) return undefined;
  const { email, phone } = contactIds(event);
  const channels = subscription.channels.filter((channel) => (channel === 'email' ? email : phone) !== undefined);
  if (channels.length === 0) {
    throw new UnfitEventError(
      `a subscription by ${subscription.channels.join(' and ')} needs an address of the visitor`,
    );
  }
  const user = present({
    email: channels.includes('email') ? email : undefined,
    phone: channels.includes('sms') ? phone : undefined,
  });
  if (subscription.action === 'unsubscribe') {
    const subscriptions = channels.map((channel) => ({
      type: 'MARKETING',
      channel: channel === 'email' ? 'EMAIL' : 'TEXT',
    }));
    return { path: unsubscribePath, body: { user, subscriptions } };
  }
  const sent = sentEvent(event);
  const source = textForm(integrationOptions(sent, names)['signUpSourceId']) ?? given.signUpSourceId?.trim();
  if (source === undefined) throw new UnfitEventError('a subscription needs the setting signUpSourceId');
  return { path: '/subscriptions', body: { user, signUpSourceId: source } };
}

const unsubscribePath = '/subscriptions/unsubscribe';

const isOld = (event: OutboundEvent, nowMs: number): boolean => nowMs - sentEvent(event).timeMs > hoursMax * hourMs;

type Call = { readonly path: string; readonly body: JsonObject };

function attributes(event: OutboundEvent, given: SettingsOf<typeof settings>): Call {
  const properties = namedTraits(withoutMembers(traitsOf(event), ownPlace), given.traitNames);
  if (Object.keys(properties).length === 0) throw new UnfitEventError('the event has no traits to set');
  return { path: '/attributes/custom', body: { properties: withKeys(properties) } };
}

function tracked(event: OutboundEvent, given: SettingsOf<typeof settings>, nowMs: number): Call {
  const sent = sentEvent(event, given);
  const { id, timeMs } = sent;
  if (isOld(event, nowMs)) throw new UnfitEventError(`the event is older than ${hoursMax} hours`);
  const occurredAt = new Date(timeMs).toISOString();
  const properties = propertiesOf(event);
  const commerce = commerceOf({ ...sent, properties });
  const path = commercePath(sent);
  const items = commerce.items.flatMap((item, index) => product(item, commerce.currency, variantOf(properties, index)));
  // Attentive's shop events need a product with id and price; without one the event is sent as a custom event.
  if (path !== undefined && items.length > 0) {
    const orderId = path === 'purchase' ? commerce.orderId : undefined;
    return { path: `/events/ecommerce/${path}`, body: { items, occurredAt, ...present({ orderId }) } };
  }
  const type = outboundName(event).replaceAll(forbiddenInType, '').trim();
  if (type === '') throw new UnfitEventError('the event has no name that Attentive accepts');
  const body = { type, properties: withKeys(properties), externalEventId: eventUuid(id), occurredAt };
  return { path: '/events/custom', body };
}

function product(item: CommerceItem, currency: string | undefined, variant: string | undefined): readonly JsonObject[] {
  const { id, name, price, quantity } = item;
  if (id === undefined || price === undefined) return [];
  return [
    {
      productId: id,
      productVariantId: variant ?? id,
      name,
      price: [{ value: price, currency: currencyOf(item, currency) }],
      quantity,
    },
  ];
}

/** The product's own currency; undefined if it is unreadable, so that the event's currency does not replace it. */
function currencyOf({ others }: CommerceItem, ofEvent: string | undefined): string | undefined {
  const code = textOf(others['currency'])?.trim().toUpperCase();
  if (code === undefined || code === '') return ofEvent;
  return /^[A-Z]{3}$/.test(code) ? code : undefined;
}

/** The variant id of the event's product at `index`; if there is no product list, the event's own variant id. */
function variantOf(properties: JsonObject, index: number): string | undefined {
  const goods: unknown = properties['products'] ?? properties['items'];
  const one: unknown = Array.isArray(goods) ? goods[index] : properties;
  return isJsonObject(one) ? (textOf(one['variant_id']) ?? textOf(one['product_variant_id'])) : undefined;
}

function withKeys(properties: JsonObject): JsonObject {
  const entries = Object.entries(properties)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => [name.replaceAll(forbiddenInKey, ''), value] as const)
    .filter(([name]) => name !== '');
  return Object.fromEntries(entries.slice(0, propertiesMax));
}

function userOf(event: OutboundEvent): JsonObject {
  const { email, phone, externalId } = contactIds(event);
  const { shopify_id: shopifyId, klaviyo_id: klaviyoId } = event.resolved.visitor.custom_properties;
  const user = present({
    email,
    phone,
    externalIdentifiers: present({
      clientUserId: externalId,
      shopifyId: textForm(shopifyId),
      klaviyoId: textForm(klaviyoId),
    }),
  });
  if (user === undefined) {
    throw new UnfitEventError('Attentive needs an e-mail address, a phone number or an external id');
  }
  return user;
}
