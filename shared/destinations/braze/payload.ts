import { textForm } from '../../routing/values/value-forms.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { commerceOf } from '../sdk/commerce.ts';
import type { CommerceItem } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { contextOf, numberOf, propertiesOf, textOf, traitsOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { present, renameMembers, withoutMembers } from '../sdk/json.ts';
import { contactIds } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';

const aliasLabel = 'sluice_visitor_id';
const nameCharactersMax = 255;

/** Braze's names, https://www.braze.com/docs/api/objects_filters/user_attributes_object. */
const attributeNames: ReadonlyMap<string, string> = new Map([
  ['phone_number', 'phone'],
  ['city', 'home_city'],
  ['date_of_birth', 'dob'],
]);

/** What would name another user, or steer the request. */
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
 * An event object, https://www.braze.com/docs/api/objects_filters/event_object. A standard event is one of Braze's
 * recommended ones where it says all that Braze demands of it: those count as orders and revenue.
 */
export function brazeEvent(event: OutboundEvent, sent: SentEvent): JsonObject {
  const common = { ...userOf(event), time: new Date(sent.timeMs).toISOString() };
  const recommended = recommendedEvent(event, sent);
  if (recommended !== undefined) return { ...common, ...recommended };
  const name = brazeName(sent.name);
  if (name === '') throw new UnfitEventError('the event has no name that Braze takes');
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

/** What Braze demands of its recommended events beside goods and money, by the property that says it. */
const demanded: Readonly<Record<string, string>> = {
  'ecommerce.checkout_started': 'checkout_id',
  'ecommerce.order_placed': 'order_id',
  'ecommerce.order_refunded': 'order_id',
  'ecommerce.order_cancelled': 'order_id',
};
/** What it takes beside that under the name it comes by. The rest goes into `metadata`. */
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
 * One of https://www.braze.com/docs/user_guide/data/activation/events/recommended_events. Undefined where the event is
 * none, or misses something: Braze discards such an event of its own that is not whole. What a mapping named is as the
 * mapping made it.
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
  const id = idName === 'order_id' ? orderId : textForm(properties[idName]);
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

/** Without a variant the product is its own. */
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

/** Of a product in an order only. */
const ofOrders: ReadonlySet<string> = new Set(['quantity']);

function siteOf(event: OutboundEvent): string | undefined {
  const url = textOf(contextOf(event)['current_url']);
  return url !== undefined && URL.canParse(url) ? textOf(new URL(url).host) : undefined;
}

/** A user attributes object. */
export function brazeAttributes(event: OutboundEvent): JsonObject {
  const { email, phone } = contactIds(event);
  const traits = withoutMembers(traitsOf(event), notAttributes);
  const gender = genders.get(textOf(traits['gender'])?.trim().toLowerCase() ?? '');
  return {
    ...withoutMembers(renameMembers(traits, attributeNames), new Set(['gender', 'email'])),
    ...(gender === undefined ? {} : { gender }),
    ...(email === undefined ? {} : { email }),
    ...(phone === undefined ? {} : { phone }),
    ...userOf(event),
  };
}

/** One identifier: of several in one object Braze refuses some pairs. */
function userOf(event: OutboundEvent): JsonObject {
  const { externalId, email, visitorId } = contactIds(event);
  if (externalId !== undefined) return { external_id: externalId };
  if (email !== undefined) return { email };
  // Braze makes no profile for an alias it does not know unless it is told to.
  return { user_alias: { alias_name: visitorId, alias_label: aliasLabel }, _update_existing_only: false };
}

/** Braze takes names of at most 255 characters that do not start with a dollar sign. */
function brazeName(name: string): string {
  return name.replace(/^\$+/, '').slice(0, nameCharactersMax);
}
