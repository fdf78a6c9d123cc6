import type { JsonObject } from '../../runtime/json.ts';
import { commerceOf } from '../sdk/commerce.ts';
import type { CommerceItem } from '../sdk/commerce.ts';
import { isJsonObject } from '../../runtime/json.ts';
import { defineDestination, onlyEvent, UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent, PreparedDestination } from '../sdk/destination.ts';
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
import { postJson } from '../sdk/http.ts';
import { present, withoutMembers } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';
import { baseUrl, token } from '../sdk/settings.ts';
import type { SettingsOf } from '../sdk/settings.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { defaultCurrency } from '../sdk/reading-settings.ts';
import { namedTraits, traitNames } from '../sdk/trait-names.ts';

const hoursMax = 12;
const hourMs = 3_600_000;
const propertiesMax = 200;
const forbiddenInType = /["'(){}[\]\\|,]/g;
const forbiddenInKey = /["{}[\]\\|]/g;
const ownPlace: ReadonlySet<string> = new Set(['email', 'phone_number', 'phone']);

const settings = {
  apiKey: token({
    label: 'API key',
    sublabel: 'Of a private app with the scopes events, e-commerce and attributes: write.',
    example: 'example',
  }),
  defaultCurrency: defaultCurrency(),
  traitNames: traitNames(),
  baseUrl: baseUrl('https://api.attentivemobile.com'),
};

/**
 * Attentive: views of products, additions to the cart and purchases by `POST /v1/events/ecommerce/…`, other events by
 * `POST /v1/events/custom`, an $identify by `POST /v1/attributes/custom`; one a request. https://docs.attentivemobile.com/openapi/reference/tag/Custom-Events/.
 * A visitor is known by e-mail address or phone number, else by the customer's id. What is older than 12 hours starts no
 * journey, and is refused. Custom events carry an id by which Attentive knows a repeated one; the others carry none.
 */
export const attentive = defineDestination({
  id: 'Attentive',
  label: 'Attentive',
  settings,
  facts: {
    sends: 'Every event; $identify as attributes',
    limits: { events: 1, ageDays: 0.5 },
    // Custom events alone carry an id, `externalEventId`.
    deduplicatesBy: undefined,
    errors: 'status',
    sources: [
      'https://docs.attentivemobile.com/openapi/reference/tag/Custom-Events/',
      'https://github.com/api-evangelist/attentive',
    ],
    checked: '2026-11-22',
    namesElsewhere: ['Attentive Mobile', 'ATTENTIVE_TAG'],
  },
  loadPlatform: async () => (await import('./platform.ts')).attentivePlatform,
  prepare,
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
      const { path, body } = isIdentify(event) ? attributes(event, given) : tracked(event, given, nowMs);
      return postJson({ url: `${base}${path}`, headers, body: { user: userOf(event), ...body }, events });
    },
  };
}

type Call = { readonly path: string; readonly body: JsonObject };

function attributes(event: OutboundEvent, given: SettingsOf<typeof settings>): Call {
  const properties = namedTraits(withoutMembers(traitsOf(event), ownPlace), given.traitNames);
  if (Object.keys(properties).length === 0) throw new UnfitEventError('the event tells nothing of the visitor');
  return { path: '/attributes/custom', body: { properties: withKeys(properties) } };
}

function tracked(event: OutboundEvent, given: SettingsOf<typeof settings>, nowMs: number): Call {
  const sent = sentEvent(event, given);
  const { id, timeMs } = sent;
  if (nowMs - timeMs > hoursMax * hourMs) throw new UnfitEventError(`the event is older than ${hoursMax} hours`);
  const occurredAt = new Date(timeMs).toISOString();
  const properties = propertiesOf(event);
  const commerce = commerceOf({ ...sent, properties });
  const path = commercePath(sent);
  const items = commerce.items.flatMap((item, index) => product(item, commerce.currency, variantOf(properties, index)));
  // Attentive's own events need goods with id and price; without them an event is one of the customer's own.
  if (path !== undefined && items.length > 0) {
    const orderId = path === 'purchase' ? commerce.orderId : undefined;
    return { path: `/events/ecommerce/${path}`, body: { items, occurredAt, ...present({ orderId }) } };
  }
  const type = outboundName(event).replaceAll(forbiddenInType, '').trim();
  if (type === '') throw new UnfitEventError('the event has no name that Attentive could take');
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
      price: [{ value: price, currency }],
      quantity,
    },
  ];
}

/** The id of the size or colour of one of an event's goods. */
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
  const user = present({
    email,
    phone,
    externalIdentifiers: present({ clientUserId: externalId }),
  });
  if (user === undefined) {
    throw new UnfitEventError('Attentive needs an e-mail address, a phone number or an external id');
  }
  return user;
}
