import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { SecretError, createSecretBox, isSealed, settingContext } from './secrets.ts';

const box = createSecretBox(randomBytes(32).toString('base64'));
const place = settingContext('account-a', 'destination-b', 'headers');

test('secrets: what was sealed opens again, and never looks like the plain text', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 4, unit: 'grapheme' }), (plain) => {
      const sealed = box.seal(plain, place);
      expect(isSealed(sealed)).toBe(true);
      expect(box.open(sealed, place)).toBe(plain);
      expect(sealed).not.toContain(plain);
    }),
  );
});

test('secrets: a cipher text moved to another place, changed or opened with another key does not open', () => {
  const sealed = box.seal('very secret', place);
  const changed = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`;
  const other = createSecretBox(randomBytes(32).toString('base64'));
  expect(() => box.open(sealed, settingContext('account-a', 'destination-c', 'headers'))).toThrow(SecretError);
  expect(() => box.open(changed, place)).toThrow(SecretError);
  expect(() => other.open(sealed, place)).toThrow(SecretError);
});

test('secrets: a key that is not 32 bytes is refused by the name of its variable', () => {
  expect(() => createSecretBox('c2hvcnQ=')).toThrow(/SECRETS_KEY/);
});
