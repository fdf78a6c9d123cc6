import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maskPersonal } from './mask-personal.ts';

test('masking: values keep type and shape, names and counts stay, other members are untouched', () => {
  const reply = {
    id: 'v1',
    properties: { email: 'ann@example.com', age: 42, vip: true, visits: 3, tags: ['Gold', ''], home: { zip: null } },
  };
  expect(maskPersonal({ entities: [reply], total: 12 }, ['properties'])).toEqual({
    entities: [
      {
        id: 'v1',
        properties: {
          email: 'aaa@aaaaaaa.aaa',
          age: 99,
          vip: true,
          visits: 3,
          tags: ['Aaaa', ''],
          home: { zip: null },
        },
      },
    ],
    total: 12,
  });
});

test('masking: no letter or digit of a value is left, except in numbers below 10', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const shown = maskPersonal({ personal: { value } }, ['personal']);
      const leaves = (one: unknown): unknown[] =>
        typeof one === 'object' && one !== null ? Object.values(one).flatMap(leaves) : [one];
      const left = leaves(shown).filter((leaf) => {
        if (typeof leaf === 'string') return /[b-zB-Z0-8]/.test(leaf);
        return typeof leaf === 'number' && Math.abs(leaf) >= 10 && /[^-.9]/.test(String(leaf));
      });
      expect(left).toEqual([]);
    }),
  );
});
