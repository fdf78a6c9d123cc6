import { describe, expect, it } from 'vitest';
import { commerceOf, createEventNames } from './commerce.ts';

describe('createEventNames', () => {
  const nameOf = createEventNames({ purchase: 'checkout', startCheckout: 'initiate_checkout' }, ['watch_video']);

  it.each([
    ['Order Completed', 'checkout'],
    ['order_completed', 'checkout'],
    ['orderCompleted', 'checkout'],
    ['purchase', 'checkout'],
    ['Checkout', 'checkout'],
    ['Checkout Started', 'initiate_checkout'],
    ['begin_checkout', 'initiate_checkout'],
    ['Watch Video', 'watch_video'],
    ['Product Added', undefined],
    ['Something else', undefined],
    ['', undefined],
  ])('name: %s is %s', (eventName, name) => {
    expect(nameOf(eventName)).toBe(name);
  });

  it('name: one that is far too long is none', () => {
    expect(nameOf('checkout'.padEnd(1_000_000, ' '))).toBeUndefined();
  });
});

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
