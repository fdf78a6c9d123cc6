import { hash } from 'node:crypto';
import { textForm } from '../../routing/values/value-forms.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { browserContext, browserId } from '../sdk/browser-context.ts';
import { amountOf, commerceOf } from '../sdk/commerce.ts';
import type { CommerceItem } from '../sdk/commerce.ts';
import type { OutboundEvent } from '../sdk/destination.ts';
import { propertiesOf, screenEvent, secondsOf, textOf } from '../sdk/event.ts';
import type { SentEvent } from '../sdk/event.ts';
import type { Pair } from '../sdk/setting-lists.ts';
import { platformEventNames } from '../sdk/platform-events.ts';
import { standardEventOf } from '../sdk/standard-events.ts';

export type HitOptions = {
  readonly organizationId: string | undefined;
  readonly withoutTimestamps: boolean;
  /**
   * Each list has pairs: `variables` of event property and variable, `events` of event name and success event,
   * `productVariables` of product property and eVar or event.
   */
  readonly variables: readonly Pair[];
  readonly events: readonly Pair[];
  readonly productVariables: readonly Pair[];
};

/** A hit: its variables by their names in the query string, and its context data. */
export type AdobeHit = {
  readonly variables: Readonly<Record<string, string | number | undefined>>;
  readonly contextData: Readonly<Record<string, string>>;
};

const contextDataMax = 100;
const valueCharactersMax = 1_000;
const productsMax = 100;

const eventName = platformEventNames('AdobeAnalytics');

/**
 * The hit of an event: https://developer.adobe.com/analytics-collection-apis/methods/data-insertion/variable-reference.
 */
export function adobeHit(
  outbound: OutboundEvent,
  event: SentEvent,
  { organizationId, withoutTimestamps, variables: ownVariables, events, productVariables }: HitOptions,
): AdobeHit {
  const { currency, orderId, items } = commerceOf(event);
  const { variables, others } = splitProperties(propertiesOf(outbound), ownVariables);
  const name = eventName(event) ?? (counted.test(event.name) ? event.name : undefined);
  const ownName = event.name.trim().toLowerCase();
  const products = items.map((item) => productOf(item, items.length === 1 ? event.properties : {}, productVariables));
  const success = new Set([
    ...(name === undefined ? [] : [name]),
    ...events.flatMap(([of, one]) => (of.toLowerCase() === ownName ? [one] : [])),
    ...products.flatMap((product) => product.events.map(([one]) => one)),
  ]);
  return {
    variables: {
      ...(withoutTimestamps ? {} : { ts: secondsOf(event) }),
      ...visitorOf(event, organizationId),
      ...placeOf(event),
      r: browserContext(event).referrer,
      cc: currency,
      events: success.size === 0 ? undefined : [...success].join(','),
      products: success.size === 0 || items.length === 0 ? undefined : productsOf(products),
      ...(name === 'purchase' ? { purchaseID: purchaseId(orderId), xact: orderId?.slice(0, 100) } : {}),
      ...variables,
    },
    contextData: contextDataOf(others),
  };
}

/** The request body: the hit between its delimiters. The context data is at its end, between separate delimiters. */
export function hitBody({ variables, contextData }: AdobeHit): string {
  const pairs = [
    ['AQB', '1'],
    ...Object.entries(variables),
    ...(Object.keys(contextData).length === 0 ? [] : [['c.', ''], ...Object.entries(contextData), ['.c', '']]),
    ['AQE', '1'],
  ] as const;
  return pairs
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value).toWellFormed())}`)
    .join('&');
}

/** The custom success events of a report suite, which are numbered and count occurrences. */
const counted = /^event\d{1,4}$/;

/** Property names that fill a variable, with the name of that variable in the query string. */
const named: ReadonlyMap<string, string> = new Map([
  ['events', 'events'],
  ['products', 'products'],
  ['campaign', 'v0'],
  ['channel', 'ch'],
  ['server', 'server'],
  ['pageName', 'pageName'],
  ['pageType', 'pageType'],
  ['purchaseID', 'purchaseID'],
  ['transactionID', 'xact'],
  ['zip', 'zip'],
]);
const numbered = /^(eVar|prop|list|hier)(\d{1,3})$/;
const numberedNames: Readonly<Record<string, { readonly short: string; readonly max: number }>> = {
  eVar: { short: 'v', max: 250 },
  prop: { short: 'c', max: 75 },
  list: { short: 'l', max: 3 },
  hier: { short: 'h', max: 5 },
};

function variableOf(name: string): string | undefined {
  const [, kind = '', digits = ''] = numbered.exec(name) ?? [];
  const family = numberedNames[kind];
  if (family === undefined) return named.get(name);
  const place = Number(digits);
  return place >= 1 && place <= family.max ? `${family.short}${place}` : undefined;
}

/** Matches the names of the variables to which settings may assign properties. */
export const adobeVariable =
  /^(eVar([1-9]\d?|1\d\d|2[0-4]\d|250)|prop([1-9]|[1-6]\d|7[0-5])|list[1-3]|hier[1-5]|campaign|channel|pageType|server|zip)$/;

function splitProperties(
  properties: JsonObject,
  own: readonly Pair[],
): {
  readonly variables: Record<string, string>;
  readonly others: JsonObject;
} {
  const variables: Record<string, string> = {};
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(properties)) {
    const named = own.flatMap(([of, variable]) => (of === name ? [variableOf(variable)] : []));
    const found = named.length > 0 ? named : [variableOf(name)];
    const text = textForm(value);
    // Lists and objects fill no variable: a shop's own list `products` is sent in Adobe's form instead.
    if (!found.includes(undefined) && text !== undefined && !isJsonObject(value) && !Array.isArray(value)) {
      for (const variable of found) if (variable !== undefined) variables[variable] = text.slice(0, valueCharactersMax);
    } else {
      others[name] = value;
    }
  }
  return { variables, others };
}

const browserNames = {
  mid: ['ecid', 'mid', 'marketing_cloud_visitor_id'],
  aid: ['s_vi', 'aid'],
  fid: ['s_fid', 'fid'],
} as const;

/**
 * The ids by which Adobe knows the browser. The visitor ID (`vid`) would take precedence over these ids, so it is sent
 * only if there are none of them.
 */
function visitorOf(event: SentEvent, organizationId: string | undefined): Readonly<Record<string, string | undefined>> {
  const mid = browserId(event, browserNames.mid);
  const aid = browserId(event, browserNames.aid);
  const fid = browserId(event, browserNames.fid);
  const isKnown = (mid ?? aid ?? fid) !== undefined;
  return {
    mid,
    mcorgid: mid === undefined ? undefined : organizationId,
    aid,
    fid,
    vid: isKnown ? undefined : visitorId(event),
  };
}

/** The Sluice visitor id as a visitor ID, which may have up to 100 letters and digits only. */
function visitorId({ visitor: { id } }: SentEvent): string {
  return /^[A-Za-z0-9-]{1,100}$/.test(id) ? id.replaceAll('-', '') : hash('sha256', id, 'hex');
}

/**
 * A page view is sent as a page; any other event is sent as a custom link with the event's name, which Adobe does not
 * count as a page view.
 */
function placeOf(event: SentEvent): Readonly<Record<string, string | undefined>> {
  const { url } = browserContext(event);
  // An app screen is a page without an address.
  const isScreen = event.name === screenEvent;
  const title = textOf(event.context['title']) ?? textOf(event.properties['name']);
  const isPage = (isScreen || standardEventOf(event.name) === 'pageView') && (url ?? title) !== undefined;
  return isPage ? { g: url, pageName: title } : { g: url, pe: 'lnk_o', pev1: url, pev2: event.name.slice(0, 255) };
}

/** A product, with its own events and merchandising variables. */
type Product = { readonly text: string; readonly events: readonly Pair[]; readonly variables: readonly Pair[] };

/** `alone` has the event's properties if this is the event's only product; otherwise it is empty. */
function productOf(item: CommerceItem, alone: JsonObject, pairs: readonly Pair[]): Product {
  const { category, id, name, brand, variant, price, quantity } = item;
  const total = price === undefined ? '' : String(Math.round(price * quantity * 100) / 100);
  const said: JsonObject = { ...alone, ...item.others, brand, variant, category, name };
  const own = pairs.flatMap(([of, variable]): readonly Pair[] => {
    const value = said[of];
    const text = variable.startsWith('event') ? amountOf(value)?.toString() : textForm(value);
    return text === undefined || text === '' ? [] : [[variable, separate(text)]];
  });
  return {
    text: [separate(category), separate(id ?? name), String(quantity), total].join(';'),
    events: own.filter(([variable]) => variable.startsWith('event')),
    variables: own.filter(([variable]) => !variable.startsWith('event')),
  };
}

/**
 * The products, separated by commas: `category;product;quantity;price`, with the price of the whole quantity, then
 * events and merchandising variables (`;event1=5|event2=3;eVar7=red`).
 */
function productsOf(products: readonly Product[]): string {
  const joined = (pairs: readonly Pair[]): string => pairs.map(([name, value]) => `${name}=${value}`).join('|');
  const told = products.slice(0, productsMax).map(({ text, events, variables }) => {
    if (variables.length > 0) return [text, joined(events), joined(variables)].join(';');
    return events.length > 0 ? [text, joined(events)].join(';') : text;
  });
  return told.join(',');
}

/** A field of a product, without the characters that separate fields and products. */
const separate = (text = ''): string => text.replaceAll(/[;,|]/g, ' ').slice(0, 100);

/**
 * The order id, or its hash if it exceeds 20 bytes: Adobe would truncate it, and ids that start alike would become
 * equal.
 */
function purchaseId(orderId: string | undefined): string | undefined {
  if (orderId === undefined || Buffer.byteLength(orderId, 'utf8') <= 20) return orderId;
  return hash('sha256', orderId, 'hex').slice(0, 20);
}

/** Properties as context data: flattened, under names of letters, digits and underscores. */
function contextDataOf(properties: JsonObject): Readonly<Record<string, string>> {
  const told: Record<string, string> = {};
  const tell = (name: string, value: unknown, depth: number): void => {
    if (Object.keys(told).length >= contextDataMax) return;
    if (isJsonObject(value)) {
      if (depth < 3) for (const [key, member] of Object.entries(value)) tell(joined(name, key), member, depth + 1);
      return;
    }
    const text = Array.isArray(value) ? listText(value) : textForm(value);
    if (name !== '' && text !== undefined && text !== '') told[name] = text.slice(0, valueCharactersMax);
  };
  for (const [key, value] of Object.entries(properties)) tell(joined('', key), value, 0);
  return told;
}

function joined(prefix: string, key: string): string {
  const plain = key.replaceAll(/[^A-Za-z0-9_]+/g, '_').slice(0, 100);
  return prefix === '' ? plain : `${prefix}_${plain}`;
}

/** The plain values of a list, separated by commas. Objects are left out, since products have their own variable. */
function listText(values: readonly unknown[]): string {
  return values
    .flatMap((value) => (isJsonObject(value) || Array.isArray(value) ? [] : (textForm(value) ?? [])))
    .join(',');
}
