import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeHashes, encodeHashes, hashEvent } from './event-hash.ts';

describe('event hash', () => {
  it('event hash: what is packed into a header comes out again', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.string())), (events) => {
        const hashes = events.map(([account, id]) => hashEvent(account, id));
        expect(decodeHashes(encodeHashes(hashes))).toEqual(hashes);
      }),
    );
  });

  it('event hash: 200,000 counted ids do not meet', () => {
    const seen = new Set<string>();
    for (let id = 0; id < 200_000; id += 1) {
      const { high, low } = hashEvent('account', `evt-${id}`);
      seen.add(`${high} ${low}`);
    }
    expect(seen.size).toBe(200_000);
  });
});
