import fc from 'fast-check';
import { expect, test } from 'vitest';
import { overIngestQuota } from './ingest-quota.ts';

const quotas = { account: 0.5, all: 0.7 };
const over = (held: Record<string, number>, used?: number, refused: readonly string[] = []) => {
  const byAccount = new Map(Object.entries(held));
  const known = [...byAccount.values()].reduce((sum, bytes) => sum + bytes, 0);
  return [...overIngestQuota({ used: used ?? known, capacity: 1_000, byAccount }, quotas, new Set(refused))].toSorted();
};

test('ingest quota: an account over its quota is refused until it is clearly below the quota', () => {
  expect(over({ loud: 501, quiet: 100 })).toEqual(['loud']);
  expect(over({ loud: 500, quiet: 100 })).toEqual([]);
  expect(over({ loud: 460, quiet: 100 }, undefined, ['loud'])).toEqual(['loud']);
  expect(over({ loud: 440, quiet: 100 }, undefined, ['loud'])).toEqual([]);
});

test('ingest quota: if all accounts together have too much, the largest ones are refused', () => {
  expect(over({ a: 400, b: 350, quiet: 20 })).toEqual(['a', 'b']);
  expect(over({ a: 400, b: 250, quiet: 20 })).toEqual([]);
});

test('ingest quota: bytes stored by other gateways count, but never cause a small account to be refused', () => {
  expect(over({ loud: 90, quiet: 9 }, 720)).toEqual(['loud']);
  expect(over({ loud: 90, quiet: 9 }, 1_000)).toEqual(['loud']);
  expect(over({ quiet: 10 }, 1_000)).toEqual([]);
});

test('ingest quota: a refused account never has less than an accepted one', () => {
  const sizes = fc.array(fc.nat(1_000), { maxLength: 20 });
  fc.assert(
    fc.property(sizes, fc.nat(2_000), (held, more) => {
      const used = held.reduce((sum, bytes) => sum + bytes, 0) + more;
      const refused = new Set(over(Object.fromEntries(held.map((bytes, index) => [`a${index}`, bytes])), used));
      const least = Math.min(...held.filter((_, index) => refused.has(`a${index}`)));
      expect(held.filter((bytes, index) => !refused.has(`a${index}`) && bytes > least)).toEqual([]);
    }),
  );
});
