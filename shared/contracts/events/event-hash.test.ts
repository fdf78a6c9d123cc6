import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  accountGroups,
  decodeHashes,
  encodeHashes,
  eventScope,
  groupBits,
  groupOf,
  hashEvent,
  hashWithoutGroup,
  sampleHash,
  sampleHashOf,
} from './event-hash.ts';

test('event hash: hashes packed into a header are read back unchanged', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), fc.string())), (events) => {
      const hashes = events.map(([account, id]) => hashEvent(account, id));
      const packed = encodeHashes(hashes);
      expect(decodeHashes(packed)).toEqual(hashes);
    }),
  );
});

test('sample hash: an id has the same hash as text and as bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(5), (id, before) => {
      const bytes = Buffer.from(`${'"'.repeat(before)}${id}"`);
      expect(sampleHashOf(bytes, before, bytes.length - 1)).toBe(sampleHash(id));
    }),
  );
});

test('event hash: two events are the same only if their ids and all their identifiers are the same', () => {
  const claim = fc.record(
    {
      userId: fc.option(fc.constantFrom('1', 'x', '","'), { nil: undefined }),
      externalIds: fc.array(fc.constantFrom('1', 'x', '","'), { maxLength: 2 }),
      emails: fc.array(fc.constantFrom('1', 'x', '","'), { maxLength: 2 }),
    },
    { noNullPrototype: true },
  );
  // Few different texts are used, so that some events have the same text.
  const event = fc.record({ eventId: fc.constantFrom('1', '1\n', 'x'), claim });
  const hashText = (one: { eventId: string; claim: Parameters<typeof hashEvent>[2] }): string =>
    JSON.stringify(hashEvent('a', one.eventId, one.claim));
  fc.assert(
    fc.property(event, event, (one, other) => {
      const isSame = JSON.stringify(one) === JSON.stringify(other);
      expect(hashText(one) === hashText(other)).toBe(isSame);
    }),
  );
  expect(hashEvent('a', 'x', {})).toEqual(hashEvent('a', 'x'));
  for (const named of [{ userId: '1' }, { externalIds: ['1'], emails: ['1'] }])
    expect(hashEvent('a', 'x', named)).not.toEqual(hashEvent('a', 'x'));
});

test('event hash: 200,000 numbered ids do not collide', () => {
  const seen = new Set<string>();
  for (let id = 0; id < 200_000; id += 1) {
    const { high, low } = hashEvent('account', `evt-${id}`);
    seen.add(`${high} ${low}`);
  }
  expect(seen.size).toBe(200_000);
});

test('event hash: live and test events have separate scopes, and so have two sources', () => {
  const origin = fc.record({
    account: fc.constantFrom('x', 'y'),
    source: fc.constantFrom('a', 'b', 'test'),
    test: fc.constantFrom(true, undefined),
  });
  fc.assert(
    fc.property(origin, origin, ({ test, ...one }, { test: otherTest, ...other }) => {
      const scope = eventScope({ ...one, ...(test && { test }) });
      const otherScope = eventScope({ ...other, ...(otherTest && { test: otherTest }) });
      const isSame = JSON.stringify({ ...one, test }) === JSON.stringify({ ...other, test: otherTest });
      expect(scope === otherScope).toBe(isSame);
    }),
  );
});

test('event hash: the hash of an event never changes, because deduplication tables are kept from one build to the next', () => {
  expect(hashWithoutGroup('account', 'evt-1')).toEqual({ high: 973_979_887, low: 2_583_014_026 });
  expect(hashEvent('account', 'evt-1')).toEqual({ high: 973_979_887, low: 2_583_014_040 });
  expect(hashEvent('account', 'evt-1', { externalIds: ['c-1'] })).toEqual({ high: 3_770_514_086, low: 2_755_551_512 });
  const claim = { userId: 'u "1"', externalIds: ['c-1', 'é'], emails: ['a@b.c'] };
  expect(hashWithoutGroup('other', 'evt-1', claim)).toEqual({ high: 909_138_991, low: 2_515_683_322 });
  expect(hashEvent('other', 'evt-1', claim)).toEqual({ high: 909_138_991, low: 2_515_683_304 });
  const scopes = [false, true].map((test) => eventScope({ account: 'account', source: 'source', test }));
  expect(scopes).toEqual(['account\nsource', 'account\nsource\ntest']);
});

test('event hash: the lowest bits are the group of the account in all its scopes, and the other bits do not depend on it', () => {
  const accounts = Array.from({ length: 2_000 }, (_, index) => `account-${index}`);
  const counts = Array.from({ length: accountGroups }, () => 0);
  for (const account of accounts) {
    const scopes = [account, `${account}\nsource`, `${account}\nsource\ntest`, `${account}\nsource\nrelease 1`];
    const hashes = scopes.map((scope, index) => hashEvent(scope, `evt-${index}`, { userId: 'u' }));
    const groups = new Set(hashes.map(({ low }) => groupOf(low)));
    expect(groups.size).toBe(1);
    for (const group of groups) counts[group] = (counts[group] ?? 0) + 1;
    for (const [index, { high, low }] of hashes.entries()) {
      const plain = hashWithoutGroup(scopes[index] ?? '', `evt-${index}`, { userId: 'u' });
      expect([high, low >>> groupBits]).toEqual([plain.high, plain.low >>> groupBits]);
    }
  }
  // 62 accounts a group on average.
  expect(Math.min(...counts)).toBeGreaterThan(30);
  expect(Math.max(...counts)).toBeLessThan(100);
});
