import { describe, expect, it } from 'vitest';
import { createEventNames } from './standard-events.ts';

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
