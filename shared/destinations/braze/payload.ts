import { textForm } from '../../routing/values/value-forms.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { commerceOf, ofOneItem } from '../sdk/commerce.ts';
import type { CommerceItem } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { contextOf, isAlias, isIdentify, numberOf, propertiesOf, sentEvent, textOf, traitsOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { present, renameMembers, withoutMembers } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { pushDevice } from '../sdk/push-device.ts';
import { standardEventOf } from '../sdk/standard-events.ts';
import { subscriptionOf } from '../sdk/subscriptions.ts';

export const standardAliasLabel = 'sluice_visitor_id';
const nameCharactersMax = 255;

/** Settings that decide how events and users are written. */
export type BrazeWording = {
  readonly aliasLabel: string;
  readonly orders: 'recommended' | 'purchases' | 'events';
  readonly subscribeEvents: ReadonlySet<string>;
  readonly unsubscribeEvents: ReadonlySet<string>;
  readonly subscriptionGroups: readonly string[];
  readonly mergeObjects: boolean;
  readonly iosAppId: string | undefined;
  readonly androidAppId: string | undefined;
  readonly defaultCurrency: string;
};

/** The lists that a request to `/users/track` may contain. */
export const listNames = ['attributes', 'events', 'purchases'] as const;

/** The entries that one event adds to the request's lists, by list. */
export function brazeRows(
  event: OutboundEvent,
  wording: BrazeWording,
): Readonly<Partial<Record<(typeof listNames)[number], readonly JsonObject[]>>> {
  if (isIdentify(event)) return { attributes: [brazeAttributes(event, wording)] };
  const sent = sentEvent(event, wording);
  const purchases = wording.orders === 'purchases' ? purchasesOf(event, sent, wording) : undefined;
  if (purchases !== undefined) return { purchases };
  const said = present({ ...pushTokens(sent, wording), subscription_groups: groupStates(event, wording) });
  return {
    ...(said === undefined ? {} : { attributes: [{ ...userOf(event, wording), ...said }] }),
    events: [brazeEvent(event, sent, wording)],
  };
}

/**
 * An alias and the external id of the user to merge it into: for an $identify both ids of the visitor, for an alias
 * call its two ids. Undefined if either id is missing, and for other events.
 */
export function tiedUser(event: OutboundEvent, { aliasLabel }: BrazeWording): JsonObject | undefined {
  const tied = (external: string | undefined, alias: string | undefined): JsonObject | undefined =>
    external === undefined || alias === undefined
      ? undefined
      : { external_id: external, user_alias: { alias_name: alias, alias_label: aliasLabel } };
  if (isAlias(event)) {
    const { id, previous_id: previousId } = propertiesOf(event);
    return tied(textForm(id), textForm(previousId));
  }
  if (!isIdentify(event)) return undefined;
  const { externalId, visitorId } = contactIds(event);
  return tied(externalId, visitorId === externalId ? undefined : visitorId);
}

/** The new state of the subscription groups, if the event subscribes or unsubscribes. */
function groupStates(event: OutboundEvent, wording: BrazeWording): readonly JsonObject[] | undefined {
  const subscription = subscriptionOf(event, { ...wording, channels: 'both' });
  if (subscription === undefined) return undefined;
  const state = subscription.action === 'subscribe' ? 'subscribed' : 'unsubscribed';
  return wording.subscriptionGroups.map((id) => ({ subscription_group_id: id, subscription_state: state }));
}

/** The push token that the event registers for the destination's app on the device's operating system, if any. */
function pushTokens(sent: SentEvent, { iosAppId, androidAppId }: BrazeWording): JsonObject | undefined {
  const device = pushDevice(sent);
  const appId = device?.platform === 'ios' ? iosAppId : androidAppId;
  if (device === undefined || appId === undefined) return undefined;
  return { push_tokens: [present({ app_id: appId, token: device.token, device_id: device.deviceId })] };
}

/**
 * A purchase for each product of an order, https://www.braze.com/docs/api/objects_filters/purchase_object. Undefined
 * if the event is not an order, or a product has no id or price.
 */
function purchasesOf(event: OutboundEvent, sent: SentEvent, wording: BrazeWording): readonly JsonObject[] | undefined {
  if (recommendedName(sent) !== 'ecommerce.order_placed') return undefined;
  const properties = propertiesOf(event);
  const { currency, items } = commerceOf({ ...sent, properties });
  const common = { ...userOf(event, wording), currency, time: new Date(sent.timeMs).toISOString() };
  const ofOrder = brazeProperties(withoutMembers(properties, ofProducts));
  const purchases = items.flatMap(({ id, name, category, brand, variant, price, quantity, others }) => {
    if (id === undefined || price === undefined) return [];
    const own = present({ ...ofOrder, name, category, brand, variant, ...others });
    const row = { ...common, product_id: id, price, ...(own === undefined ? {} : { properties: own }) };
    return portionsOf(quantity).map((portion) => ({ ...row, quantity: portion }));
  });
  const isWhole = items.every(({ id, price }) => id !== undefined && price !== undefined);
  return purchases.length === 0 || !isWhole ? undefined : purchases;
}

const piecesMax = 100;

/** A quantity split into portions, because Braze accepts at most 100 pieces in one purchase. */
function portionsOf(quantity: number): readonly number[] {
  const whole = Array.from({ length: Math.min(Math.floor(quantity / piecesMax), piecesMax) }, () => piecesMax);
  const rest = quantity % piecesMax;
  return rest === 0 ? whole : [...whole, rest];
}

const ofProducts: ReadonlySet<string> = new Set(['products', 'items', 'contents', 'currency']);

/** The attribute of Braze for each trait: https://www.braze.com/docs/api/objects_filters/user_attributes_object. */
const attributeNames: ReadonlyMap<string, string> = new Map([
  ['phone_number', 'phone'],
  ['city', 'home_city'],
  ['date_of_birth', 'dob'],
]);

/** Members of a Braze user object that would identify another user or change the request; traits must not set them. */
const notAttributes: ReadonlySet<string> = new Set([
  'external_id',
  'braze_id',
  'user_alias',
  '_update_existing_only',
  'push_token_import',
  'push_tokens',
]);

const genders: ReadonlyMap<string, string> = new Map([
  ['m', 'M'],
  ['male', 'M'],
  ['man', 'M'],
  ['f', 'F'],
  ['female', 'F'],
  ['woman', 'F'],
  ['o', 'O'],
  ['other', 'O'],
  ['n', 'N'],
  ['not applicable', 'N'],
  ['p', 'P'],
  ['prefer not to say', 'P'],
]);

/**
 * An event object, https://www.braze.com/docs/api/objects_filters/event_object. A standard event becomes one of
 * Braze's recommended events, which count as orders and revenue, if it has all fields that Braze requires.
 */
function brazeEvent(event: OutboundEvent, sent: SentEvent, wording: BrazeWording): JsonObject {
  const common = { ...userOf(event, wording), time: new Date(sent.timeMs).toISOString() };
  const recommended = wording.orders === 'recommended' ? recommendedEvent(event, sent) : undefined;
  if (recommended !== undefined) return { ...common, ...recommended };
  const name = brazeName(sent.name);
  if (name === '') throw new UnfitEventError('the event has no name that Braze accepts');
  return { ...common, name, properties: brazeProperties(propertiesOf(event)) };
}

function brazeProperties(given: JsonObject): JsonObject {
  const properties = Object.entries(given).flatMap(([key, value]) => {
    const property = brazeName(key);
    return property === '' || value === null ? [] : [[property, value] as const];
  });
  return Object.fromEntries(properties);
}

const recommendedName = platformEventNames('Braze');

/** For each recommended event of Braze, the id that it requires besides products and amounts. */
const demanded: Readonly<Record<string, string>> = {
  'ecommerce.cart_updated': 'cart_id',
  'ecommerce.checkout_started': 'checkout_id',
  'ecommerce.order_placed': 'order_id',
  'ecommerce.order_refunded': 'order_id',
  'ecommerce.order_cancelled': 'order_id',
};
/** Optional fields of orders, sent under their original names. Properties that have no field go into `metadata`. */
const optional = ['cart_id', 'discounts', 'subtotal_value', 'tax', 'shipping'] as const;
const ownPlaces: ReadonlySet<string> = new Set<string>([
  ...Object.values(demanded),
  ...optional,
  'products',
  'items',
  'contents',
  'value',
  'revenue',
  'total',
  'currency',
  'transaction_id',
  'source',
  'discount',
  'total_discounts',
  'cancel_reason',
  'reason',
]);

/**
 * A recommended event: https://www.braze.com/docs/user_guide/data/activation/events/recommended_events. Undefined if
 * Braze recommends none for the event, if a mapping renamed the event, or if a required field is missing: Braze
 * discards incomplete recommended events.
 */
function recommendedEvent(event: OutboundEvent, sent: SentEvent): JsonObject | undefined {
  const name = sent.isRenamed ? undefined : recommendedName(sent);
  if (name === undefined) return undefined;
  const properties = propertiesOf(event);
  const { value, currency, orderId, items } = commerceOf({ ...sent, properties });
  const products = items.map(brazeProduct).filter((product) => product !== undefined);
  if (currency === undefined || products.length === 0 || products.length < items.length) return undefined;
  const source = textOf(properties['source']) ?? siteOf(event) ?? 'sluice';
  if (name === 'ecommerce.product_viewed') {
    const viewed = products.map((product) => withoutMembers(product, ofOrders))[0];
    return { name, properties: { ...viewed, currency, source } };
  }
  const idName = demanded[name] ?? 'order_id';
  // Segment's Checkout Started has no checkout id, only an order id.
  const id = (idName === 'order_id' ? undefined : textForm(properties[idName])) ?? orderId;
  if (name === 'ecommerce.cart_updated') {
    const cartId = textForm(properties['cart_id']) ?? contactIds(event).visitorId;
    const action = standardEventOf(sent.name) === 'removeFromCart' ? 'remove' : 'add';
    const metadata = present(brazeProperties(withoutMembers(properties, ofCarts)));
    // Only an event with the whole cart contains its total; for other events Braze computes it from the products that
    // were added and removed.
    const total = Array.isArray(properties['products']) ? value : undefined;
    return {
      name,
      properties: present({ cart_id: cartId, action, total_value: total, currency, products, source, metadata }),
    };
  }
  const reason = textOf(properties['cancel_reason']) ?? textOf(properties['reason']);
  if (value === undefined || id === undefined) return undefined;
  if (name === 'ecommerce.order_cancelled' && reason === undefined) return undefined;
  const told = optional.flatMap((key) => (properties[key] === undefined ? [] : [[key, properties[key]] as const]));
  return {
    name,
    properties: {
      ...Object.fromEntries(told),
      ...present({
        [idName]: id,
        total_value: value,
        currency,
        products,
        source,
        cancel_reason: name === 'ecommerce.order_cancelled' ? reason : undefined,
        total_discounts: numberOf(properties['total_discounts']) ?? numberOf(properties['discount']),
        metadata: present(brazeProperties(withoutMembers(properties, ownPlaces))),
      }),
    },
  };
}

/**
 * A product of a recommended event; undefined if it has no id, name or price. If it has no variant, its id is sent as
 * the variant.
 */
function brazeProduct({
  id,
  name,
  category,
  brand,
  variant,
  price,
  quantity,
  url,
  imageUrl,
  others,
}: CommerceItem): JsonObject | undefined {
  if (id === undefined || name === undefined || price === undefined) return undefined;
  return {
    product_id: id,
    product_name: name,
    variant_id: variant ?? id,
    quantity,
    price,
    ...present({ product_url: url, image_url: imageUrl, metadata: present({ category, brand, ...others }) }),
  };
}

/** Properties of a cart event that fill other fields, and are therefore left out of `metadata`. */
const ofCarts: ReadonlySet<string> = new Set([...ownPlaces, ...ofOneItem]);

/** Fields that a product has in a cart or an order, but not in a product view. */
const ofOrders: ReadonlySet<string> = new Set(['quantity']);

function siteOf(event: OutboundEvent): string | undefined {
  const url = textOf(contextOf(event)['current_url']);
  return url !== undefined && URL.canParse(url) ? textOf(new URL(url).host) : undefined;
}

function brazeAttributes(event: OutboundEvent, wording: BrazeWording): JsonObject {
  const { email, phone } = contactIds(event);
  const traits = withoutMembers(traitsOf(event), notAttributes);
  const gender = genders.get(textOf(traits['gender'])?.trim().toLowerCase() ?? '');
  return {
    ...withoutMembers(renameMembers(traits, attributeNames), new Set(['gender', 'email'])),
    ...(gender === undefined ? {} : { gender }),
    ...(email === undefined ? {} : { email }),
    ...(phone === undefined ? {} : { phone }),
    ...pushTokens(sentEvent(event), wording),
    ...(wording.mergeObjects ? { _merge_objects: true } : {}),
    ...userOf(event, wording),
  };
}

/** Identifies the user of an object by only one identifier, because Braze refuses some combinations. */
function userOf(event: OutboundEvent, { aliasLabel }: BrazeWording): JsonObject {
  const { externalId, email, visitorId } = contactIds(event);
  if (externalId !== undefined) return { external_id: externalId };
  if (email !== undefined) return { email };
  // Braze creates no profile for an unknown alias unless the request asks for it.
  return { user_alias: { alias_name: visitorId, alias_label: aliasLabel }, _update_existing_only: false };
}

/** A name in Braze's form: at most 255 characters, not starting with a dollar sign. */
function brazeName(name: string): string {
  return name.replace(/^\$+/, '').slice(0, nameCharactersMax);
}
