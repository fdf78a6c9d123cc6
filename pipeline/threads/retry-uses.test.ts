import { expect, test } from 'vitest';
import { createRetryUses } from './retry-uses.ts';

test('retry uses: accounts with messages in the retry log are counted, and before the first check the configured size is used', () => {
  const accounts = new Map(Object.entries({ a1: 'a', a2: 'a', b1: 'b', c1: 'c' }));
  const uses = createRetryUses({
    capacity: 1_000,
    destinationsOf: (accountId) => (accountId === 'a' ? 2 : 1),
    accountOf: (destinationId) => accounts.get(destinationId),
  });
  expect(uses.current).toMatchObject({ used: 0, capacity: 1_000, accounts: 0 });
  const messages = new Map(Object.entries({ 'retry.a1.0': 2, 'retry.a2.98': 3, 'retry.b1.1': 1, 'retry.gone.0': 4 }));
  uses.look({ bytes: 500, bytesMax: 2_000 }, messages);
  expect(uses.current).toMatchObject({ used: 500, capacity: 2_000, accounts: 2 });
  expect(uses.current.destinationsOf('a')).toBe(2);
  uses.look({ bytes: 0, bytesMax: undefined }, new Map());
  expect(uses.current).toMatchObject({ used: 0, capacity: Infinity, accounts: 0 });
});
