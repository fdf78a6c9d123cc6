import { expect, test } from 'vitest';
import { isJsonObject } from '../runtime/json.ts';
import { findDestinationKind } from './registry.ts';
import { platformEvents } from './sdk/platform-events.ts';
import type { PlatformWithEvents } from './sdk/platform-events.ts';
import { standardEvents } from './sdk/standard-events.ts';
import type { PlatformVocabulary, StandardEvent, StandardParameter } from './sdk/standard-events.ts';
import { sampleShopper } from './testing/sample-shopper.ts';

const nowMs = 1_700_000_060_000;

/** A value for each parameter, which a test must find in the platform's request. */
const said: Readonly<Record<StandardParameter, unknown>> = {
  value: 42.5,
  currency: 'EUR',
  orderId: 'A-1001',
  itemIds: 'tea-1',
  itemCount: 2,
  itemId: 'tea-1',
  itemName: 'Green tea',
  itemCategory: 'Drinks',
  itemBrand: 'Leaf',
  itemPrice: 21.25,
  itemQuantity: 2,
  searchText: 'green',
};

const properties = {
  order_id: said.orderId,
  checkout_id: 'C-7',
  reason: 'changed my mind',
  revenue: said.value,
  currency: 'eur',
  query: said.searchText,
  products: [
    {
      product_id: said.itemId,
      name: said.itemName,
      category: said.itemCategory,
      brand: said.itemBrand,
      price: said.itemPrice,
      quantity: said.itemQuantity,
    },
  ],
};

function requestOf(id: string, event: string) {
  const kind = findDestinationKind(id);
  if (kind === undefined) throw new Error(`there is no kind ${id}`);
  const visit = sampleShopper({ event, properties: { ...kind.exampleProperties, ...properties } });
  const { body, url, headers } = kind.prepare(kind.exampleSettings).buildRequest([visit], nowMs);
  // A GET carries its payload in the query.
  if (body === undefined) return { url, body: Object.fromEntries(new URL(url).searchParams) };
  const isForm = headers['content-type']?.includes('form') === true;
  return { url, body: isForm ? Object.fromEntries(new URLSearchParams(body)) : (JSON.parse(body) as unknown) };
}

const vocabularies = Object.entries(platformEvents) as [PlatformWithEvents, PlatformVocabulary][];
const names = vocabularies.flatMap(([kind, { names: ofKind }]) =>
  Object.entries(ofKind).map(([event, name]) => [kind, standardEvents[event as StandardEvent].label, name] as const),
);

test.each(names)('%s: %s goes out as %s', (kind, label, name) => {
  const { url, body } = requestOf(kind, label);
  expect(textsOf(body).includes(name) || new URL(url).pathname.endsWith(name)).toBe(true);
});

const parameters = vocabularies.flatMap(([kind, { parameters: ofKind }]) =>
  Object.entries(ofKind).map(([parameter, path]) => [kind, parameter as StandardParameter, path] as const),
);

test.each(parameters)('%s: %s stands at %s', (kind, parameter, path) => {
  const { body } = requestOf(kind, parameter === 'searchText' ? 'Products Searched' : 'Order Completed');
  expect(valuesAt(body, path).map(String)).toContain(String(said[parameter]));
});

test('vocabularies: each belongs to a destination kind that exists', () => {
  for (const [kind] of vocabularies) expect([kind, findDestinationKind(kind)?.descriptor.id]).toEqual([kind, kind]);
});

/** Every text in a JSON value. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return isJsonObject(value) ? Object.values(value).flatMap(textsOf) : [];
}

/** The values at a path such as `data[].custom_data.contents[].id`; if a value is a list, its items. */
function valuesAt(value: unknown, path: string): unknown[] {
  const found = path.split('.').reduce<unknown[]>(
    (values, segment) =>
      values.flatMap((one) => {
        const name = segment.replace('[]', '');
        const member = name === '' ? one : isJsonObject(one) ? one[name] : undefined;
        return segment.endsWith('[]') && Array.isArray(member) ? (member as unknown[]) : [member];
      }),
    [value],
  );
  return found.flat();
}
