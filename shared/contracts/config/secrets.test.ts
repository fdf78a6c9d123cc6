import { createCipheriv, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  SecretError,
  createSecretBox,
  createSourceSecretBox,
  isSealed,
  sealedBy,
  settingContext,
  signingSecretContext,
} from './secrets.ts';

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

test('secrets: what another key sealed still opens, and what is sealed again names its key', () => {
  const [older, newer] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
  const before = createSecretBox(older);
  const rotated = createSecretBox(newer, older);
  const sealed = before.seal('very secret', place);
  expect(sealed.startsWith(sealedBy(before.keyId))).toBe(true);
  expect(rotated.open(sealed, place)).toBe('very secret');
  const again = rotated.seal('very secret', place);
  expect(again.startsWith(sealedBy(rotated.keyId))).toBe(true);
  expect(createSecretBox(newer).open(again, place)).toBe('very secret');
  expect(() => createSecretBox(newer).open(sealed, place)).toThrow(`sealed with the key ${before.keyId}`);
  expect(() => before.open(again, place)).toThrow(SecretError);
});

test('secrets: what was sealed before keys had ids opens with either key', () => {
  const [older, newer] = [randomBytes(32), randomBytes(32)];
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', older, nonce).setAAD(Buffer.from(place));
  const body = Buffer.concat([cipher.update('very secret', 'utf8'), cipher.final()]);
  const sealed = `enc:v1:${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')}`;
  const [first, second] = [older.toString('base64'), newer.toString('base64')];
  expect(createSecretBox(first).open(sealed, place)).toBe('very secret');
  expect(createSecretBox(second, first).open(sealed, place)).toBe('very secret');
  expect(() => createSecretBox(second).open(sealed, place)).toThrow(SecretError);
});

test('secrets: a tag that is cut short opens nothing', () => {
  const sealed = box.seal('', place);
  const bytes = Buffer.from(sealed.slice(sealedBy(box.keyId).length), 'base64url');
  for (const tagBytes of [0, 4, 8, 15]) {
    const cut = sealedBy(box.keyId) + bytes.subarray(0, 12 + tagBytes).toString('base64url');
    expect(() => box.open(cut, place)).toThrow(SecretError);
  }
});

test('secrets: a key that is not 32 bytes is refused by the name of its variable', () => {
  expect(() => createSecretBox('c2hvcnQ=')).toThrow(/SECRETS_KEY:/);
  expect(() => createSecretBox(randomBytes(32).toString('base64'), 'c2hvcnQ=')).toThrow(/SECRETS_KEY_PREVIOUS:/);
});

test('source secrets: have a box of their own, which opens what the key before it sealed, and none without a key', () => {
  const [older = '', newer = ''] = [1, 2].map(() => randomBytes(32).toString('base64'));
  const place = signingSecretContext('account', 'source');
  const sealed = createSourceSecretBox({ SOURCE_SECRETS_KEY: older })?.seal('very secret', place) ?? '';
  const rotated = createSourceSecretBox({ SOURCE_SECRETS_KEY: newer, SOURCE_SECRETS_KEY_PREVIOUS: older });
  expect(rotated?.open(sealed, place)).toBe('very secret');
  const again = rotated?.seal('very secret', place) ?? '';
  expect(createSourceSecretBox({ SOURCE_SECRETS_KEY: newer })?.open(again, place)).toBe('very secret');
  expect(() => createSourceSecretBox({ SOURCE_SECRETS_KEY: newer })?.open(sealed, place)).toThrow(SecretError);
  expect(createSourceSecretBox({})).toBeUndefined();
  expect(() => createSourceSecretBox({ SOURCE_SECRETS_KEY: 'c2hvcnQ=' })).toThrow(/SOURCE_SECRETS_KEY:/);
  const bad = { SOURCE_SECRETS_KEY: newer, SOURCE_SECRETS_KEY_PREVIOUS: 'c2hvcnQ=' };
  expect(() => createSourceSecretBox(bad)).toThrow(/SOURCE_SECRETS_KEY_PREVIOUS:/);
});
