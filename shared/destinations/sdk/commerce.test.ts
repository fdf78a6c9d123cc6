import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../runtime/json.ts';
import { amountOf, commerceOf as read } from './commerce.ts';

const commerceOf = (properties: JsonObject, defaultCurrency?: string) => read({ properties, defaultCurrency });

describe('commerceOf', () => {
  it('order: value, currency, id and products are read', () => {
    const commerce = commerceOf({
      order_id: 1001,
      total: '30.50',
      currency: 'usd',
      products: [{ product_id: 'a', price: '10', quantity: 2 }, { sku: 'b', price: 5.5 }, 'no product'],
    });
    expect(commerce).toMatchObject({
      value: 30.5,
      currency: 'USD',
      orderId: '1001',
      itemIds: ['a', 'b'],
      itemCount: 3,
    });
    expect(commerce.items[1]).toMatchObject({ id: 'b', price: 5.5, quantity: 1 });
  });

  it('value: the sum of the products where the event has no value, and missing where a price is missing', () => {
    const products = [
      { product_id: 'a', price: 0.1, quantity: 3 },
      { product_id: 'b', price: 0.2 },
    ];
    expect(commerceOf({ products }).value).toBe(0.5);
    expect(commerceOf({ products: [...products, { product_id: 'c' }] }).value).toBeUndefined();
  });

  it('goods: the event itself is the product where it is about a single product', () => {
    expect(commerceOf({ product_id: 'a', price: 4, quantity: 2, name: 'Tea' })).toMatchObject({
      value: 8,
      items: [{ id: 'a', name: 'Tea', price: 4, quantity: 2 }],
    });
  });

  it('goods: the first list that is not empty is used, whatever its name', () => {
    const contents = [{ content_id: 'c', content_name: 'Tea', content_category: 'Drinks' }];
    expect(commerceOf({ products: [], contents })).toMatchObject({
      items: [{ id: 'c', name: 'Tea', category: 'Drinks' }],
      itemIds: ['c'],
    });
    expect(commerceOf({ products: [], productId: 'a', position: 3, other: 1 }).items).toMatchObject([
      { id: 'a', others: { position: 3 } },
    ]);
    expect(commerceOf({ content_ids: ['a', 7, null] })).toMatchObject({ items: [], itemIds: ['a', '7'] });
  });

  it('currency: the destination’s currency is used where the event has none', () => {
    expect(commerceOf({ value: 1 }, 'EUR').currency).toBe('EUR');
    expect(commerceOf({ value: 1, currency: 'usd' }, 'EUR').currency).toBe('USD');
    expect(commerceOf({ value: 1, orderId: 'o' })).toMatchObject({ currency: undefined, orderId: 'o' });
  });

  it('value: a quantity of 2.5 counts as one piece at its price, and an unreadable amount counts as missing', () => {
    const products = [{ product_id: 'a', price: 10, quantity: 2.5 }];
    expect(commerceOf({ products })).toMatchObject({ value: 25, itemCount: 1, items: [{ price: 25, quantity: 1 }] });
    for (const revenue of ['free', true, { amount: 3 }, '1,299,00']) {
      expect(commerceOf({ revenue, products }).value).toBeUndefined();
    }
    expect(commerceOf({ value: '', revenue: null, products }).value).toBe(25);
  });

  it.each([
    ['$1,299.00', 1_299],
    ['1.299,00 €', 1_299],
    ['EUR 12,50', 12.5],
    ['1 299.5', 1_299.5],
    ["1'299.5 CHF", 1_299.5],
    ['-$5.20', -5.2],
    ['1,299', 1_299],
    ['42.5', 42.5],
    [7, 7],
    ['2026-11-26', undefined],
    ['3 items of 5', undefined],
  ])('amount: %j is read as %j', (text, amount) => {
    expect(amountOf(text)).toBe(amount);
  });

  it('empty: an event without products has no commerce data', () => {
    expect(commerceOf({ currency: 'euros', value: 'many' })).toEqual({
      value: undefined,
      currency: undefined,
      orderId: undefined,
      items: [],
      itemIds: [],
      itemCount: undefined,
      searchText: undefined,
    });
  });
});
