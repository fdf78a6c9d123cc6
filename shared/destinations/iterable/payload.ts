import { textForm } from '../../routing/values/value-forms.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { commerceOf } from '../sdk/commerce.ts';
import type { CommerceItem } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { isAlias, numberOf, propertiesOf, sentEvent, textOf, traitsOf } from '../sdk/event.ts';
import { listOf, present, renameMembers, withoutMembers } from '../sdk/json.ts';
import { contactIds, normaliseEmail } from '../sdk/person.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { pushDevice } from '../sdk/push-device.ts';
import { standardEventOf } from '../sdk/standard-events.ts';

/** The types of identifiers by which a project can identify users. */
export type IterableKey = 'email' | 'userId';

const fieldNames: ReadonlyMap<string, string> = new Map([
  ['first_name', 'firstName'],
  ['last_name', 'lastName'],
  ['phone_number', 'phoneNumber'],
]);
const identifying: ReadonlySet<string> = new Set(['email', 'userId']);

/** A row of a trackBulk request. */
export function iterableEvent(event: OutboundEvent, preferred: IterableKey): JsonObject {
  const { id, name, timeMs } = sentEvent(event);
  return {
    ...userKey(event, preferred),
    eventName: name,
    id,
    createdAt: Math.floor(timeMs / 1_000),
    ...messageIds(propertiesOf(event)),
    dataFields: propertiesOf(event),
  };
}

/** Iterable's numeric ids of the campaign and template that an event is attributed to. */
function messageIds(properties: JsonObject): JsonObject {
  const idOf = (...names: readonly string[]): number | undefined => {
    const id = names.map((name) => numberOf(properties[name])).find((value) => value !== undefined);
    return id !== undefined && Number.isSafeInteger(id) && id > 0 ? id : undefined;
  };
  return {
    ...present({ campaignId: idOf('campaignId', 'campaign_id'), templateId: idOf('templateId', 'template_id') }),
  };
}

const purchaseName = platformEventNames('Iterable');

/**
 * The body of trackPurchase, which counts as revenue: https://api.iterable.com/api/docs#commerce_trackPurchase.
 * Undefined if the event is not an order, or lacks a field that Iterable requires: the total, or id, name and price
 * of each item. A purchase replaces an earlier one with the same id.
 */
export function iterablePurchase(event: OutboundEvent, preferred: IterableKey): JsonObject | undefined {
  const order = orderOf(event);
  return order === undefined ? undefined : { ...order, user: newUserKey(event, preferred) };
}

/** Whether the event is an order with all fields that Iterable requires of a purchase. */
export function isIterablePurchase(event: OutboundEvent): boolean {
  return orderOf(event) !== undefined;
}

function orderOf(event: OutboundEvent): JsonObject | undefined {
  const sent = sentEvent(event);
  if (purchaseName(sent) === undefined) return undefined;
  const properties = propertiesOf(event);
  const { value, orderId, items } = commerceOf({ ...sent, properties });
  const bought = items.flatMap((item) => purchasedItem(item) ?? []);
  if (value === undefined || bought.length === 0 || bought.length < items.length) return undefined;
  return {
    id: orderId ?? sent.id,
    items: bought,
    total: value,
    createdAt: Math.floor(sent.timeMs / 1_000),
    ...messageIds(properties),
    dataFields: withoutMembers(properties, listsOfItems),
  };
}

/**
 * The body of updateCart, which replaces the cart in Iterable: https://api.iterable.com/api/docs#commerce_updateCart.
 * Undefined if the event is not about a cart, or an item lacks a required field. A removal or a view of the cart is
 * sent only if the event lists the cart's products.
 */
export function iterableCart(event: OutboundEvent, preferred: IterableKey): JsonObject | undefined {
  const items = cartOf(event);
  return items === undefined ? undefined : { user: newUserKey(event, preferred), items };
}

/** Whether the event has a cart that `updateCart` can send. */
export function isIterableCart(event: OutboundEvent): boolean {
  return cartOf(event) !== undefined;
}

const cartEvents: ReadonlySet<string> = new Set(['addToCart', 'removeFromCart', 'viewCart']);

function cartOf(event: OutboundEvent): readonly JsonObject[] | undefined {
  const sent = sentEvent(event);
  const standard = sent.isRenamed ? undefined : standardEventOf(sent.name);
  if (standard === undefined || !cartEvents.has(standard)) return undefined;
  const properties = propertiesOf(event);
  if (standard !== 'addToCart' && !Array.isArray(properties['products'])) return undefined;
  const { items } = commerceOf({ ...sent, properties });
  const held = items.flatMap((item): readonly JsonObject[] => listOf(purchasedItem(item)) ?? []);
  return held.length === 0 || held.length < items.length ? undefined : held;
}

const listsOfItems: ReadonlySet<string> = new Set(['products', 'items', 'contents']);

function purchasedItem({
  id,
  name,
  brand,
  variant,
  category,
  price,
  quantity,
  url,
  imageUrl,
  others,
}: CommerceItem): JsonObject | undefined {
  if (id === undefined || name === undefined || price === undefined) return undefined;
  return {
    id,
    name,
    price,
    quantity,
    categories: listOf(category),
    url,
    imageUrl,
    dataFields: present({ brand, variant, ...others }),
  };
}

/**
 * The body of registerDeviceToken. Undefined if the event registers no device, or the push integration is unknown.
 */
export function iterableDevice(
  event: OutboundEvent,
  preferred: IterableKey,
  integration: string | undefined,
): JsonObject | undefined {
  const device = deviceIn(event, integration);
  return device === undefined ? undefined : { ...newUserKey(event, preferred), device };
}

/** Whether the event has a device that `registerDeviceToken` can register. */
export function isIterableDevice(event: OutboundEvent, integration: string | undefined): boolean {
  return deviceIn(event, integration) !== undefined;
}

function deviceIn(event: OutboundEvent, integration: string | undefined): JsonObject | undefined {
  const sent = sentEvent(event);
  const device = pushDevice(sent);
  const applicationName = integration ?? textOf(sent.context['app_namespace']);
  if (device === undefined || applicationName === undefined) return undefined;
  const dataFields = present({ deviceId: device.deviceId, deviceModel: sent.context['device_model'] });
  return {
    token: device.token,
    platform: device.platform === 'ios' ? 'APNS' : 'GCM',
    applicationName,
    ...(dataFields === undefined ? {} : { dataFields }),
  };
}

/**
 * The body of updateEmail, for an alias whose new id is an e-mail address:
 * https://api.iterable.com/api/docs#users_updateEmail. Undefined for every other event.
 */
export function iterableNewEmail(event: OutboundEvent): JsonObject | undefined {
  if (!isAlias(event)) return undefined;
  const { id, previous_id: previous } = propertiesOf(event);
  const newEmail = normaliseEmail(textOf(id) ?? '');
  const current = textForm(previous);
  if (newEmail === undefined || current === undefined || current === '') return undefined;
  const currentEmail = normaliseEmail(current);
  return { ...(currentEmail === undefined ? { currentUserId: current } : { currentEmail }), newEmail };
}

/** A row of a bulkUpdate request. Throws UnfitEventError if the visitor has neither e-mail address nor external id. */
export function iterableUser(event: OutboundEvent, preferred: IterableKey, mergesObjects: boolean): JsonObject {
  // Without mergeNestedObjects an object replaces the user's existing one.
  const key = { ...newUserKey(event, preferred), ...(mergesObjects ? { mergeNestedObjects: true } : {}) };
  const { email, externalId, phone } = contactIds(event);
  const named = renameMembers(traitsOf(event), fieldNames);
  const fields = withoutMembers(phone === undefined ? named : { ...named, phoneNumber: phone }, identifying);
  if ('email' in key) return { ...key, dataFields: { ...fields, userId: externalId } };
  return { ...key, dataFields: { ...fields, email } };
}

/** The key of a user that may be new: without preferUserId Iterable refuses a new user that has no e-mail address. */
function newUserKey(event: OutboundEvent, preferred: IterableKey): JsonObject {
  const key = userKey(event, preferred);
  return 'userId' in key ? { ...key, preferUserId: true } : key;
}

/** E-mail address or user id, because Iterable refuses both together. Throws UnfitEventError if neither is known. */
export function userKey(event: OutboundEvent, preferred: IterableKey): Readonly<Partial<Record<IterableKey, string>>> {
  const { email, externalId } = contactIds(event);
  const isByEmail = preferred === 'email' ? email !== undefined : externalId === undefined;
  if (isByEmail && email !== undefined) return { email };
  if (externalId !== undefined) return { userId: externalId };
  throw new UnfitEventError('Iterable needs an e-mail address or an external id');
}
