import { textForm } from '../../routing/values/value-forms.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { numberOf } from './event.ts';
import type { SentEvent } from './event.ts';
import { withoutMembers } from './json.ts';

/** A product in an event. */
export type CommerceItem = {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly category: string | undefined;
  readonly brand: string | undefined;
  readonly variant: string | undefined;
  /** Addresses of the product page and image. */
  readonly url: string | undefined;
  readonly imageUrl: string | undefined;
  /** Unit price. */
  readonly price: number | undefined;
  readonly quantity: number;
  /**
   * The product's remaining properties. If the event itself is the product, these are only the properties in
   * `ofOneProduct`.
   */
  readonly others: JsonObject;
};

/** An event's amounts and products, whatever names its properties use. */
export type Commerce = {
  readonly value: number | undefined;
  /** ISO 4217, three capitals. */
  readonly currency: string | undefined;
  readonly orderId: string | undefined;
  readonly items: readonly CommerceItem[];
  /** Ids of the products that have one. */
  readonly itemIds: readonly string[];
  /** Total quantity; undefined if the event has no products. */
  readonly itemCount: number | undefined;
  readonly searchText: string | undefined;
};

/** The properties that amounts and products are read from. */
export type CommerceEvent = Pick<SentEvent, 'properties' | 'defaultCurrency'>;

/**
 * Reads the properties that shops send: `value` (else `revenue`, else `total`, else the sum of the
 * products), `currency`, `order_id`, and the products in `products`, `items` or `contents`, or the
 * event itself if it is about one product. An amount that cannot be parsed counts as missing; the sum
 * of the products does not replace it.
 */
export function commerceOf({ properties, defaultCurrency }: CommerceEvent): Commerce {
  const items = itemsOf(properties);
  const currency = currencyOf(properties);
  const given = ['value', 'revenue', 'total'].map((name) => properties[name]).find(isGiven);
  const value = given === undefined ? sumOf(items) : amountOf(given);
  const hasAmount = value !== undefined || items.some(({ price }) => price !== undefined);
  return {
    value,
    currency: currency === undefined ? (hasAmount ? defaultCurrency : undefined) : (currency ?? undefined),
    orderId: firstText(properties, ['order_id', 'orderId', 'transaction_id', 'transactionId']),
    items,
    itemIds: items.length > 0 ? items.flatMap(({ id }) => id ?? []) : idsIn(properties),
    itemCount:
      wholeNumber(firstNumber(properties, ['num_items', 'numItems', 'num_of_items', 'numOfItems'])) ?? countOf(items),
    searchText: firstText(properties, ['search_string', 'searchString', 'search_term', 'searchTerm', 'query']),
  };
}

/**
 * The event's currency. Undefined if it has none; null if it is not a currency code, so that
 * the default currency does not replace it.
 */
function currencyOf(properties: JsonObject): string | null | undefined {
  const text = firstText(properties, ['currency', 'currency_code', 'currencyCode'])?.toUpperCase();
  if (text === undefined) return undefined;
  return /^[A-Z]{3}$/.test(text) ? text : null;
}

const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && !(typeof value === 'string' && value.trim() === '');

/**
 * An amount as a number. Also parses text with a currency sign and separators: `$1,299.00`,
 * `1.299,00 €`, `12,50`. Undefined for any other text.
 */
export function amountOf(value: unknown): number | undefined {
  const plain = numberOf(value);
  if (plain !== undefined || typeof value !== 'string') return plain;
  const [, sign = '', digits] = /^[^\d.,-]{0,5}(-?)[^\d.,-]{0,5}(\d[\d.,' ]*?)[^\d.,]{0,5}$/.exec(value.trim()) ?? [];
  if (digits === undefined) return undefined;
  const text = digits.replaceAll(/[' ]/g, '');
  for (const [form, group, point] of amountForms) {
    if (form.test(text)) return Number(`${sign}${text.replaceAll(group, '').replace(point, '.')}`);
  }
  return undefined;
}

/**
 * Separators of digit groups and decimals. Three digits after a comma are a group, because no common
 * currency has three decimals.
 */
const amountForms: readonly (readonly [form: RegExp, group: string, point: string])[] = [
  [/^(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/, ',', '.'],
  [/^(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$/, '.', ','],
];

/** Product ids that an event lists without other product fields. */
function idsIn(properties: JsonObject): readonly string[] {
  for (const name of ['content_ids', 'contentIds', 'item_ids', 'itemIds', 'product_ids', 'productIds']) {
    const ids = properties[name];
    if (!Array.isArray(ids)) continue;
    return ids.flatMap((id) => (typeof id === 'string' || typeof id === 'number' ? String(id).trim() || [] : []));
  }
  return [];
}

function itemsOf(properties: JsonObject): readonly CommerceItem[] {
  const lists = [properties['products'], properties['items'], properties['contents']];
  for (const list of lists) {
    const items = Array.isArray(list) ? list.flatMap((entry) => (isJsonObject(entry) ? itemOf(entry) : [])) : [];
    if (items.length > 0) return items;
  }
  // Outside a list, a property `id` could be the id of anything, unless there is a quantity.
  const names = isGiven(properties['quantity']) ? itemNames.id : ofOneProductId;
  if (firstText(properties, names) === undefined) return [];
  const others = Object.fromEntries(
    ofOneProduct.flatMap((name) => (isGiven(properties[name]) ? [[name, properties[name]]] : [])),
  );
  return [{ ...itemOf(properties), others }];
}

const ofOneProductId = ['product_id', 'productId', 'item_id', 'itemId', 'content_id', 'sku'];
/** Further properties that describe the product if the event itself is the product. */
const ofOneProduct = ['position', 'index', 'coupon', 'discount', 'affiliation'];

function itemOf(product: JsonObject): CommerceItem {
  const price = firstAmount(product, itemNames.price);
  const quantity = firstNumber(product, itemNames.quantity);
  // Platforms accept only whole quantities, so a fraction such as 2.5 kg becomes one piece at the price
  // of that fraction.
  const isPart = quantity !== undefined && quantity > 0 && !Number.isSafeInteger(quantity);
  return {
    id: firstText(product, itemNames.id),
    name: firstText(product, itemNames.name),
    category: firstText(product, itemNames.category),
    brand: firstText(product, itemNames.brand),
    variant: firstText(product, itemNames.variant),
    url: firstText(product, itemNames.url),
    imageUrl: firstText(product, itemNames.imageUrl),
    price: isPart && price !== undefined ? rounded(price * quantity) : price,
    quantity: wholeNumber(quantity) ?? 1,
    others: withoutMembers(product, allItemNames),
  };
}

const itemNames = {
  id: ['product_id', 'productId', 'item_id', 'itemId', 'content_id', 'id', 'sku'],
  name: ['name', 'item_name', 'product_name', 'productName', 'content_name'],
  category: ['category', 'item_category', 'content_category'],
  brand: ['brand', 'item_brand'],
  variant: ['variant', 'item_variant', 'variant_id', 'variantId'],
  url: ['url', 'product_url'],
  imageUrl: ['image_url', 'imageUrl'],
  price: ['price', 'item_price'],
  quantity: ['quantity'],
} as const;
const allItemNames: ReadonlySet<string> = new Set(Object.values(itemNames).flat());
/** All properties that describe the product if the event itself is the product. */
export const ofOneItem: readonly string[] = [...allItemNames, ...ofOneProduct];

function sumOf(items: readonly CommerceItem[]): number | undefined {
  if (items.length === 0) return undefined;
  let sum = 0;
  for (const { price, quantity } of items) {
    // If a price is missing, the sum would be wrong.
    if (price === undefined) return undefined;
    sum += price * quantity;
  }
  return rounded(sum);
}

/** Rounds off binary fractions; no currency has more than four decimals. */
const rounded = (amount: number): number => Math.round(amount * 10_000) / 10_000;

/**
 * Whether the products represent the whole order on a platform that adds up their prices: each has a price, and there
 * are no more than the platform accepts.
 */
export function arePriced(items: readonly CommerceItem[], itemsMax: number): boolean {
  return items.length > 0 && items.length <= itemsMax && items.every(({ price }) => price !== undefined);
}

function countOf(items: readonly CommerceItem[]): number | undefined {
  return items.length === 0 ? undefined : items.reduce((count, { quantity }) => count + quantity, 0);
}

function wholeNumber(value: number | undefined): number | undefined {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function firstText(properties: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = textForm(properties[name])?.trim();
    if (text !== undefined && text !== '') return text;
  }
  return undefined;
}

function firstAmount(properties: JsonObject, names: readonly string[]): number | undefined {
  return amountOf(names.map((name) => properties[name]).find(isGiven));
}

function firstNumber(properties: JsonObject, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = numberOf(properties[name]);
    if (value !== undefined && Number.isFinite(value)) return value;
  }
  return undefined;
}
