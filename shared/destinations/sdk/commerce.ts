import { textForm } from '../../routing/values/value-forms.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { numberOf } from './event.ts';
import { withoutMembers } from './json.ts';

/** One product of an event. */
export type CommerceItem = {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly category: string | undefined;
  readonly brand: string | undefined;
  readonly variant: string | undefined;
  /** Addresses of its page and its picture. */
  readonly url: string | undefined;
  readonly imageUrl: string | undefined;
  /** Of one piece. */
  readonly price: number | undefined;
  readonly quantity: number;
  /** All that is said of it under other names; nothing where the event itself is about one product. */
  readonly others: JsonObject;
};

/** What an event says of money and goods, whatever names its properties go by. */
export type Commerce = {
  readonly value: number | undefined;
  /** ISO 4217, three capitals. */
  readonly currency: string | undefined;
  readonly orderId: string | undefined;
  readonly items: readonly CommerceItem[];
  /** Ids of the items that have one. */
  readonly itemIds: readonly string[];
  /** Pieces in all; undefined where the event names no goods. */
  readonly itemCount: number | undefined;
  readonly searchText: string | undefined;
};

/**
 * Reads the properties that shops send: `value` (else `revenue`, else `total`, else the sum of its goods), `currency`,
 * `order_id`, and the goods in `products`, `items` or `contents`, or the event itself where it is about one product.
 */
export function commerceOf(properties: JsonObject): Commerce {
  const items = itemsOf(properties);
  const currency = firstText(properties, ['currency'])?.toUpperCase();
  return {
    value: firstNumber(properties, ['value', 'revenue', 'total']) ?? sumOf(items),
    currency: currency !== undefined && /^[A-Z]{3}$/.test(currency) ? currency : undefined,
    orderId: firstText(properties, ['order_id', 'transaction_id']),
    items,
    itemIds: items.flatMap(({ id }) => id ?? []),
    itemCount: firstNumber(properties, ['num_items']) ?? countOf(items),
    searchText: firstText(properties, ['search_string', 'search_term', 'query']),
  };
}

function itemsOf(properties: JsonObject): readonly CommerceItem[] {
  const list = [properties['products'], properties['items'], properties['contents']].find((value) =>
    Array.isArray(value),
  );
  if (Array.isArray(list)) return list.flatMap((entry) => (isJsonObject(entry) ? itemOf(entry) : []));
  const isOfOne = firstText(properties, ['product_id', 'sku']) !== undefined;
  return isOfOne ? [{ ...itemOf(properties), others: {} }] : [];
}

function itemOf(product: JsonObject): CommerceItem {
  return {
    id: firstText(product, itemNames.id),
    name: firstText(product, itemNames.name),
    category: firstText(product, itemNames.category),
    brand: firstText(product, itemNames.brand),
    variant: firstText(product, itemNames.variant),
    url: firstText(product, itemNames.url),
    imageUrl: firstText(product, itemNames.imageUrl),
    price: firstNumber(product, itemNames.price),
    quantity: wholeNumber(firstNumber(product, itemNames.quantity)) ?? 1,
    others: withoutMembers(product, allItemNames),
  };
}

const itemNames = {
  id: ['product_id', 'item_id', 'id', 'sku'],
  name: ['name', 'item_name', 'product_name'],
  category: ['category', 'item_category'],
  brand: ['brand', 'item_brand'],
  variant: ['variant', 'item_variant', 'variant_id'],
  url: ['url', 'product_url'],
  imageUrl: ['image_url'],
  price: ['price', 'item_price'],
  quantity: ['quantity'],
} as const;
const allItemNames: ReadonlySet<string> = new Set(Object.values(itemNames).flat());

function sumOf(items: readonly CommerceItem[]): number | undefined {
  if (items.length === 0) return undefined;
  let sum = 0;
  for (const { price, quantity } of items) {
    // A sum without one of the prices would be a wrong value.
    if (price === undefined) return undefined;
    sum += price * quantity;
  }
  // Without the traces of binary fractions; no currency has more than four decimals.
  return Math.round(sum * 10_000) / 10_000;
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

function firstNumber(properties: JsonObject, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = numberOf(properties[name]);
    if (value !== undefined && Number.isFinite(value)) return value;
  }
  return undefined;
}
