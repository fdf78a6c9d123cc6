import { expect, test } from 'vitest';
import { AddressShares } from './address-shares.ts';

test('address shares: an address has its limit, all together have the total, and released units are available again', () => {
  const shares = new AddressShares(10, 6);
  expect([shares.take('a', 6), shares.take('a', 1), shares.take('b', 5), shares.take('b', 4)]).toEqual([
    true,
    false,
    false,
    true,
  ]);
  expect(shares.total).toBe(10);
  shares.release('a', 4);
  expect([shares.take('a', 5), shares.take('a', 4), shares.take('b', 1)]).toEqual([false, true, false]);
  shares.release('a', 6);
  shares.release('b', 4);
  expect([shares.total, shares.take('a', 6), shares.refused]).toEqual([0, true, 4]);
});
