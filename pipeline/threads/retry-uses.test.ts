import { expect, test } from 'vitest';
import { createRetryUses } from './retry-uses.ts';

const state = { bytesMax: 1_000, firstSeq: 1, lastSeq: 10, createdAt: '' };

test('retry uses: an account has what its destinations have, over all tiers', () => {
  const uses = createRetryUses((accountId) => (accountId === 'a' ? ['a1', 'a2'] : ['b1']));
  expect(uses.current).toBeUndefined();
  const messages = new Map(Object.entries({ 'retry.a1.0': 2, 'retry.a1.98': 3, 'retry.a2.1': 1, 'retry.gone.0': 4 }));
  uses.look({ ...state, bytes: 500, messages: 10 }, messages);
  expect(uses.current).toMatchObject({ used: 500, capacity: 1_000 });
  expect([uses.current?.usedBy('a'), uses.current?.usedBy('b')]).toEqual([300, 0]);
  uses.look({ ...state, bytes: 0, messages: 0 }, new Map());
  expect(uses.current?.usedBy('a')).toBe(0);
});
