import { describe, expect, it } from 'vitest';
import { commerceOf } from './commerce.ts';

describe('commerceOf', () => {
  it('order: value, currency, id and goods', () => {
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

  it('value: the sum of the goods where none is given, nothing where a price is missing', () => {
    const products = [
      { product_id: 'a', price: 0.1, quantity: 3 },
      { product_id: 'b', price: 0.2 },
    ];
    expect(commerceOf({ products }).value).toBe(0.5);
    expect(commerceOf({ products: [...products, { product_id: 'c' }] }).value).toBeUndefined();
  });

  it('goods: the event itself where it is about one product', () => {
    expect(commerceOf({ product_id: 'a', price: 4, quantity: 2, name: 'Tea' })).toMatchObject({
      value: 8,
      items: [{ id: 'a', name: 'Tea', price: 4, quantity: 2 }],
    });
  });

  it('nothing: an event without goods has none of it', () => {
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
