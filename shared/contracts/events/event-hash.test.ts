import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeHashes, encodeHashes, hashEvent } from './event-hash.ts';

test('event hash: what is packed into a header comes out again', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string(), fc.string())), (events) => {
      const hashes = events.map(([account, id]) => hashEvent(account, id));
      expect(decodeHashes(encodeHashes(hashes))).toEqual(hashes);
    }),
  );
});

test('event hash: the same id and the same identifiers are one event, and anything else is another', () => {
  const claim = fc.record(
    {
      userId: fc.option(fc.constantFrom('1', 'x', '","'), { nil: undefined }),
      externalIds: fc.array(fc.constantFrom('1', 'x', '","'), { maxLength: 2 }),
      emails: fc.array(fc.constantFrom('1', 'x', '","'), { maxLength: 2 }),
    },
    { noNullPrototype: true },
  );
  // Of few texts, so that some are the same.
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
});

test('event hash: 200,000 counted ids do not meet', () => {
  const seen = new Set<string>();
  for (let id = 0; id < 200_000; id += 1) {
    const { high, low } = hashEvent('account', `evt-${id}`);
    seen.add(`${high} ${low}`);
  }
  expect(seen.size).toBe(200_000);
});
