import { hash } from 'node:crypto';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { commerceOf } from '../sdk/commerce.ts';
import type { CommerceItem } from '../sdk/commerce.ts';
import { UnfitEventError } from '../sdk/destination.ts';
import { checkAge, groupEvent, numberOf, screenEvent, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import { withoutMembers } from '../sdk/json.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { ga4Name, ga4ParameterName } from './names.ts';

const daysMax = 3;
const parametersMax = 25;
const itemsMax = 200;
const valueCharactersMax = 100;
/** Parameters whose values may exceed `valueCharactersMax`: https://support.google.com/analytics/answer/9267744 */
const longerValues: Readonly<Record<string, number>> = { page_location: 1_000, page_referrer: 420, page_title: 300 };

/**
 * An event in a Measurement Protocol request, with its properties as parameters. Recommended events have the
 * parameters that Google Analytics reports use:
 * https://developers.google.com/analytics/devguides/collection/protocol/ga4/reference/events. Throws UnfitEventError
 * for an event without a name, and for one older than 72 hours, whose time Google would change:
 * https://developers.google.com/analytics/devguides/collection/protocol/ga4/sending-events.
 */
export function ga4Event(event: SentEvent, context: JsonObject, nowMs: number): JsonObject {
  checkAge(event, nowMs, daysMax);
  const recommended = ofCalls.get(event.name) ?? recommendedName(event) ?? checkoutStep(event);
  const name = recommended ?? ga4Name(event.name);
  if (name === undefined) throw new UnfitEventError('the event has no name that Google Analytics accepts');
  return {
    name,
    timestamp_micros: event.timeMs * 1_000,
    params: parametersOf(recommended, event, context),
  };
}

const recommendedName = platformEventNames('GA4MeasurementProtocol');

/** Google's names for group and screen calls, which have no event name of their own. */
const ofCalls: ReadonlyMap<string, string> = new Map([
  [groupEvent, 'join_group'],
  [screenEvent, 'screen_view'],
]);

/**
 * Google's name for a completed checkout step: the payment step if only a payment method is given, or else shipping.
 */
function checkoutStep({ name, isRenamed, properties }: SentEvent): string | undefined {
  if (isRenamed || !/^(checkout ?step ?completed|completed ?checkout ?step)$/i.test(name.replaceAll('_', ' ')))
    return undefined;
  const paysOnly =
    textOf(properties['payment_method']) !== undefined && textOf(properties['shipping_method']) === undefined;
  return paysOnly ? 'add_payment_info' : 'add_shipping_info';
}

const transactions: ReadonlySet<string> = new Set(['purchase', 'refund']);
const withItemsOnly: ReadonlySet<string> = new Set([
  'view_item_list',
  'select_item',
  'view_promotion',
  'select_promotion',
]);
const withItemsAndValue: ReadonlySet<string> = new Set([
  ...transactions,
  'view_item',
  'add_to_cart',
  'remove_from_cart',
  'view_cart',
  'add_to_wishlist',
  'begin_checkout',
  'add_shipping_info',
  'add_payment_info',
]);
const listsOfItems = ['items', 'products', 'contents'] as const;

/** A recommended event's parameters under Google's names, and the names of the properties that they replace. */
function recommendedParameters(name: string, event: SentEvent): readonly [JsonObject, readonly string[]] {
  const { value, currency, orderId, items, searchText } = commerceOf(event);
  const goods = items.length === 0 ? undefined : items.slice(0, itemsMax).map(recommendedItem);
  if (transactions.has(name)) {
    const parameters = { transaction_id: orderId, value, currency, items: goods };
    return [parameters, [...listsOfItems, 'order_id', 'orderId', 'transactionId']];
  }
  const [own, ownNames] = ownParameters(name, event.properties);
  const said = [...listsOfItems, ...ownNames];
  if (withItemsAndValue.has(name)) return [{ value, currency, ...own, items: goods }, said];
  if (withItemsOnly.has(name)) return [{ ...own, items: goods }, said];
  if (ownNames.length > 0) return [own, ownNames];
  if (name === 'search') return [{ search_term: searchText }, ['search_string', 'query']];
  return name === 'generate_lead' ? [{ value, currency }, []] : [{}, []];
}

const promotionNames = { name: 'promotion_name', creative: 'creative_name', position: 'creative_slot' };

/** Google's parameter for a common property, by Google's event name. */
const parameterNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  view_item_list: { list_id: 'item_list_id', category: 'item_list_name' },
  select_item: { list_id: 'item_list_id', category: 'item_list_name' },
  add_shipping_info: { shipping_method: 'shipping_tier' },
  add_payment_info: { payment_method: 'payment_type' },
  share: { share_via: 'method' },
  screen_view: { name: 'screen_name' },
  view_promotion: promotionNames,
  select_promotion: promotionNames,
};

/**
 * Parameters under Google's names for properties that the event has only under a common name, and these common names.
 */
function ownParameters(name: string, properties: JsonObject): readonly [JsonObject, readonly string[]] {
  const names = Object.entries(parameterNames[name] ?? {}).filter(
    ([given, own]) => textOf(properties[given]) !== undefined && properties[own] === undefined,
  );
  return [Object.fromEntries(names.map(([given, own]) => [own, properties[given]])), names.map(([given]) => given)];
}

function recommendedItem({ id, name, category, brand, variant, price, quantity, others }: CommerceItem): JsonObject {
  const { position, ...rest } = others;
  return itemOf({
    item_id: id,
    item_name: name,
    item_category: category,
    item_brand: brand,
    item_variant: variant,
    price,
    quantity,
    index: numberOf(position),
    ...rest,
  });
}

function parametersOf(recommended: string | undefined, event: SentEvent, context: JsonObject): JsonObject {
  const parameters = new Map<string, unknown>();
  const [first, said] = recommended === undefined ? [{}, []] : recommendedParameters(recommended, event);
  const { items, ...properties } = withoutMembers(event.properties, new Set(said));
  // Without engagement time and session id an event does not appear in user activity reports.
  parameters.set('engagement_time_msec', numberOr(properties['engagement_time_msec'], 1));
  const sessionId = sessionOf(properties['session_id'] ?? context['sid']);
  if (sessionId !== undefined) parameters.set('session_id', sessionId);
  // The parameters of a recommended event come before the other properties, because the number of parameters is
  // limited.
  for (const [name, value] of Object.entries(first)) {
    const fit = name === 'items' ? value : valueOf(value, valueCharactersMax);
    if (fit !== undefined) parameters.set(name, fit);
  }
  if (Array.isArray(items)) parameters.set('items', items.slice(0, itemsMax).filter(isJsonObject).map(itemOf));
  const page = {
    page_location: context['current_url'],
    page_title: context['title'],
    page_referrer: context['referrer'],
  };
  addAll(parameters, '', page, 0);
  addAll(parameters, '', properties, 0);
  return Object.fromEntries([...parameters].slice(0, parametersMax));
}

const depthMax = 4;

/** Adds parameters. A parameter is one text or number, so each member of an object becomes one (`address_city`). */
function addAll(parameters: Map<string, unknown>, prefix: string, members: JsonObject, depth: number): void {
  for (const [key, value] of Object.entries(members)) {
    if (parameters.size >= parametersMax) return;
    const name = ga4ParameterName(`${prefix}${key}`);
    // A parameter that already has a value keeps it.
    if (name === undefined || parameters.has(name) || name === 'session_id') continue;
    const inner = membersOf(value);
    if (inner !== undefined) {
      if (depth < depthMax) addAll(parameters, `${name}_`, inner, depth + 1);
      continue;
    }
    const fit = valueOf(value, longerValues[name] ?? valueCharactersMax);
    if (fit !== undefined) parameters.set(name, fit);
  }
}

/** The members of an object; for a list of objects, its items by index; undefined for any other value. */
function membersOf(value: unknown): JsonObject | undefined {
  if (isJsonObject(value)) return value;
  const isList = Array.isArray(value) && value.length > 0 && value.every((entry) => isJsonObject(entry));
  return isList ? Object.fromEntries(value.map((entry, index) => [String(index), entry])) : undefined;
}

/** An item whose parameters are texts or numbers; each member of an object becomes a parameter (`size_label`). */
function itemOf(item: JsonObject): JsonObject {
  const members = flatMembers(item, '', 0).slice(0, parametersMax + 2);
  return Object.fromEntries(
    members.flatMap(([key, value]) => {
      const fit = valueOf(value, valueCharactersMax);
      return fit === undefined ? [] : [[key.slice(0, 40), fit]];
    }),
  );
}

function flatMembers(members: JsonObject, prefix: string, depth: number): [string, unknown][] {
  return Object.entries(members).flatMap(([key, value]): [string, unknown][] => {
    const name = `${prefix}${key}`;
    const inner = membersOf(value);
    if (inner === undefined) return [[name, value]];
    return depth < depthMax ? flatMembers(inner, `${name}_`, depth + 1) : [];
  });
}

/** A value in a form that Google Analytics accepts; a list becomes one text. Undefined for other values. */
function valueOf(value: unknown, charactersMax: number): string | number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return value === '' ? undefined : cut(value, charactersMax);
  if (typeof value === 'boolean') return String(value);
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((item) => typeof item === 'string' || typeof item === 'number');
  return texts.length === 0 ? undefined : cut(texts.join(','), charactersMax);
}

function cut(text: string, charactersMax: number): string {
  return text.slice(0, charactersMax).toWellFormed();
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' && value >= 0 ? value : fallback;
}

/** The session id. Google accepts only digits: any other id is hashed to a number. */
function sessionOf(value: unknown): string | undefined {
  const text = typeof value === 'number' ? String(value) : textOf(value);
  if (text === undefined || /^\d{1,18}$/.test(text)) return text;
  return String(parseInt(hash('sha256', text, 'hex').slice(0, 8), 16));
}
