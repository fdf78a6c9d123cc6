import { createCipheriv, randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { readEnv } from '../../runtime/env.ts';
import {
  SecretError,
  accessTokenContext,
  accountKeyContext,
  createSecretBox,
  createSourceSecretBox,
  erasureSubjectContext,
  isSealed,
  readSecretKeys,
  sealedBy,
  secretsEnv,
  settingContext,
  signingSecretContext,
  sourceKeyContext,
  sourceSecretsEnv,
  userHashSecretContext,
} from './secrets.ts';

const newKey = (): string => randomBytes(32).toString('base64');
const place = settingContext('account-a', 'destination-b', 'headers');

test('secrets: a sealed text opens to the same text, and does not contain it', () => {
  const box = createSecretBox(newKey());
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
  const box = createSecretBox(newKey());
  const sealed = box.seal('very secret', place);
  const changed = `${sealed.slice(0, -2)}${sealed.endsWith('AA') ? 'BB' : 'AA'}`;
  const other = createSecretBox(randomBytes(32).toString('base64'));
  expect(() => box.open(sealed, settingContext('account-a', 'destination-c', 'headers'))).toThrow(SecretError);
  expect(() => box.open(changed, place)).toThrow(SecretError);
  expect(() => other.open(sealed, place)).toThrow(SecretError);
});

test('secrets: a text sealed with the previous key still opens, and a sealed text names its key', () => {
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

test('secrets: a text sealed before keys had ids opens with the current key or the previous key', () => {
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

test('secrets: a sealed text whose tag is cut short does not open', () => {
  const box = createSecretBox(newKey());
  const sealed = box.seal('', place);
  const bytes = Buffer.from(sealed.slice(sealedBy(box.keyId).length), 'base64url');
  for (const tagBytes of [0, 4, 8, 15]) {
    const cut = sealedBy(box.keyId) + bytes.subarray(0, 12 + tagBytes).toString('base64url');
    expect(() => box.open(cut, place)).toThrow(SecretError);
  }
});

test('secrets: a key that is not 32 bytes is refused with the name of its variable', () => {
  expect(() => createSecretBox('c2hvcnQ=')).toThrow(/SECRETS_KEY:/);
  expect(() => createSecretBox(randomBytes(32).toString('base64'), 'c2hvcnQ=')).toThrow(/SECRETS_KEY_PREVIOUS:/);
});

test('source secrets: texts sealed with the previous key still open, and without a key no box is made', () => {
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

test('secrets: the contexts of stored secrets never change, and no two are the same', () => {
  expect([
    settingContext('a', 'x', 'k'),
    signingSecretContext('a', 'x'),
    userHashSecretContext('a', 'x'),
    accessTokenContext('a', 'x'),
    sourceKeyContext('a', 'x', true),
    sourceKeyContext('a', 'x', false),
    erasureSubjectContext('a', 'x'),
    accountKeyContext('a', 'x'),
  ]).toEqual([
    'a/x/settings.k',
    'a/x/signing-secret',
    'a/x/user-hash-secret',
    'a/x/access-token',
    'a/x/source-key.test',
    'a/x/source-key.live',
    'a/x/erasure-subject',
    'a/x/account-key',
  ]);
});

test('secrets: only a text that is sealed is opened, and an error has its cause', () => {
  const box = createSecretBox(newKey());
  expect(['very secret', '', 7, null, undefined, ['enc:v1:']].map(isSealed)).toEqual(Array(6).fill(false));
  expect(() => box.open('very secret', place)).toThrow('the value is not sealed');
  const sealed = box.seal('very secret', place);
  expect(() => box.open(sealed, 'elsewhere')).toThrow(
    expect.objectContaining({ code: 'secret', cause: expect.any(Error) as Error }) as Error,
  );
});

const readFile = (): string => expect.unreachable();

test('secrets: the key that seals comes first, then the previous key; an invalid key is refused', () => {
  const [current, previous] = [newKey(), newKey()];
  const read = (source: Record<string, string>) => readSecretKeys(readEnv(Type.Object(secretsEnv), source, readFile));
  expect(read({ SECRETS_KEY: current })).toEqual([current]);
  expect(read({ SECRETS_KEY: current, SECRETS_KEY_PREVIOUS: previous })).toEqual([current, previous]);
  for (const source of [{}, { SECRETS_KEY: 'c2hvcnQ=' }, { SECRETS_KEY: current, SECRETS_KEY_PREVIOUS: 'c2hvcnQ=' }])
    expect(() => read(source)).toThrow('SECRETS_KEY');
});

test('source secrets: keys are optional, but a previous key needs a current one', () => {
  const [current, previous] = [newKey(), newKey()];
  const read = (source: Record<string, string>) => readEnv(Type.Object(sourceSecretsEnv), source, readFile);
  expect(read({})).toEqual({});
  const both = { SOURCE_SECRETS_KEY: current, SOURCE_SECRETS_KEY_PREVIOUS: previous };
  expect(read(both)).toEqual(both);
  expect(() => read({ SOURCE_SECRETS_KEY_PREVIOUS: previous })).toThrow('SOURCE_SECRETS_KEY');
  expect(() => read({ SOURCE_SECRETS_KEY: 'c2hvcnQ=' })).toThrow('32 bytes in base64');
});
