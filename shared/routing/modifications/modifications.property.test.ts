import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileModification, modificationNames } from './modifications.ts';
import { anyText } from '../../testing/any-text.ts';

describe('modifications: property', () => {
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constant(undefined),
    fc.webUrl({ withQueryParameters: true, withFragments: true }),
    fc.ipV4(),
    fc.ipV6(),
    fc.emailAddress(),
    anyText(),
  );

  const repeatable = modificationNames.filter((name) => name !== 'Encrypted');

  test.each(repeatable)('%s: is total, and the same for the same value', (name) => {
    fc.assert(
      fc.property(value, fc.string(), (any, salt) => {
        const modify = compileModification(name, salt, 'modification');
        expect(modify(any)).toEqual(modify(any));
      }),
    );
  });

  const hashing = modificationNames.filter((name) => name.startsWith('Hash'));

  test.each(hashing)('%s: lets out nothing but digests', (name) => {
    fc.assert(
      fc.property(value, (any) => {
        const changed = compileModification(name, 'salt', 'modification')(any);
        for (const item of Array.isArray(changed) ? changed : [changed]) {
          expect(item === undefined || item === null || /^([0-9a-f]{32}|[0-9a-f]{64})$/.test(String(item))).toBe(true);
        }
      }),
    );
  });

  test.each(['FakeIP', 'RegionalIP', 'DmaIP'])('%s: the result is never the whole address', (name) => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        fc.pre(!/(^|[.:])0*$/.test(address) && !address.includes('::'));
        expect(compileModification(name, '', 'modification')(address)).not.toBe(address);
      }),
    );
  });
});
