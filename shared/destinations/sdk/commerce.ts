import { textForm } from '../../routing/values/value-forms.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { numberOf } from './event.ts';

/** One product of an event. */
export type CommerceItem = {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly category: string | undefined;
  readonly brand: string | undefined;
  /** Of one piece. */
  readonly price: number | undefined;
  readonly quantity: number;
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
  return isOfOne ? [itemOf(properties)] : [];
}

function itemOf(product: JsonObject): CommerceItem {
  return {
    id: firstText(product, ['product_id', 'item_id', 'id', 'sku']),
    name: firstText(product, ['name', 'item_name', 'product_name']),
    category: firstText(product, ['category', 'item_category']),
    brand: firstText(product, ['brand', 'item_brand']),
    price: firstNumber(product, ['price', 'item_price']),
    quantity: wholeNumber(firstNumber(product, ['quantity'])) ?? 1,
  };
}

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

/** What happened, for the events that every ad platform has a name for. */
export type StandardEvent = keyof typeof namesInUse;

/**
 * The platform's name for an event: one of its own names, however it is written, or its name for what the event's name
 * says in common use (`Order Completed` is a purchase). Undefined for an event it has no name for.
 */
export function createEventNames(
  ofStandard: Readonly<Partial<Record<StandardEvent, string>>>,
  others: readonly string[] = [],
): (eventName: string) => string | undefined {
  const names = new Map<string, string>();
  // The platform's own names first: the same word may mean another thing elsewhere.
  for (const name of [...Object.values(ofStandard), ...others]) names.set(plain(name), name);
  for (const [standard, common] of Object.entries(namesInUse)) {
    const name = ofStandard[standard as StandardEvent];
    if (name === undefined) continue;
    for (const alias of common) if (!names.has(alias)) names.set(alias, name);
  }
  return (eventName) => (eventName.length > nameCharactersMax ? undefined : names.get(plain(eventName)));
}

const nameCharactersMax = 100;

/** `Order Completed`, `order_completed` and `orderCompleted` are one. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

/**
 * Names in common use, of the e-commerce vocabularies of customer data platforms, of Google Analytics 4 and of the ad
 * platforms themselves, without case and separators.
 */
const namesInUse = {
  pageView: ['pageview', 'pageviewed', 'viewedpage', 'page', 'pagevisit', 'pagevisited', 'pageloaded'],
  viewContent: ['viewcontent', 'productviewed', 'viewedproduct', 'productview', 'viewitem', 'contentviewed'],
  viewList: ['viewlist', 'viewcategory', 'productlistviewed', 'viewitemlist', 'listview', 'categoryviewed'],
  search: ['search', 'searched', 'productssearched', 'viewsearchresults'],
  addToCart: ['addtocart', 'productadded', 'addedtocart', 'addcart', 'cartadded'],
  addToWishlist: ['addtowishlist', 'productaddedtowishlist', 'addedtowishlist'],
  startCheckout: ['initiatecheckout', 'checkoutstarted', 'begincheckout', 'startcheckout', 'startedcheckout'],
  addPaymentInfo: ['addpaymentinfo', 'paymentinfoentered', 'addbilling', 'paymentinfoadded'],
  purchase: ['purchase', 'ordercompleted', 'completepayment', 'placedorder', 'orderplaced', 'completedorder'],
  signUp: ['signup', 'signedup', 'completeregistration', 'registrationcompleted', 'accountcreated', 'registered'],
  lead: ['lead', 'generatelead', 'leadsubmitted', 'leadcreated', 'formsubmitted', 'submitform', 'formsubmit'],
  subscribe: ['subscribe', 'subscribed', 'subscriptionstarted', 'subscriptioncreated'],
  startTrial: ['starttrial', 'trialstarted', 'startedtrial'],
  contact: ['contact', 'contacted', 'contactus'],
  schedule: ['schedule', 'scheduled', 'appointmentscheduled', 'appointmentbooked', 'bookappointment'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
