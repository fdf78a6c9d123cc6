import { expect, test } from 'vitest';
import type { Exchange } from './exchange.ts';
import { RequestLimits } from './request-limits.ts';

const exchangeFrom = (forwardedFor: string): Exchange => ({ head: { forwardedFor } }) as Exchange;
const addressOf = ({ head }: Exchange): string => head.forwardedFor;

test('request limits: requests in flight from an address are limited, and the end of a refused request frees no slot', () => {
  const limits = new RequestLimits({ ofAddressMax: 2, addressOf });
  const [first, second, third] = ['a', 'a', 'a'].map(exchangeFrom);
  if (first === undefined || second === undefined || third === undefined) throw new Error('no requests');
  expect([first, second, third].map((exchange) => limits.admit(exchange))).toEqual([true, true, false]);
  expect(limits.admit(exchangeFrom('b'))).toBe(true);
  limits.ended(third);
  expect(limits.admit(exchangeFrom('a'))).toBe(false);
  limits.ended(first);
  expect(limits.admit(exchangeFrom('a'))).toBe(true);
  expect(limits.refused).toBe(2);
});

test('request limits: with a limit of 0 all requests are admitted, and the address is not read', () => {
  const limits = new RequestLimits({
    ofAddressMax: 0,
    addressOf: () => {
      throw new Error('asked');
    },
  });
  const exchange = exchangeFrom('a');
  expect(limits.admit(exchange)).toBe(true);
  limits.ended(exchange);
  expect(limits.refused).toBe(0);
});
