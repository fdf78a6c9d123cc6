import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { findDestinationKind } from '../../shared/destinations/registry.ts';
import { compileMappings } from '../../shared/routing/mapping/apply-mapping.ts';
import { createEncryption, readEncryptionKey } from '../../shared/routing/modifications/encryption.ts';

type Decrypt = (
  value: unknown,
  place: {
    readonly privateKey: string;
    readonly accountId: string;
    readonly destinationId: string;
    readonly property: string;
  },
) => unknown;

/** The function of the documentation's example, loaded from the file that readers copy. */
const example = async (): Promise<Decrypt> =>
  ((await import(new URL('decrypt.mjs', import.meta.url).href)) as { readonly decrypt: Decrypt }).decrypt;

const place = { accountId: 'account', destinationId: 'destination' };
const keys = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const encryptionOf = (now: () => number = () => 0) =>
  createEncryption({ publicKey: readEncryptionKey(keys.publicKey), ...place, now });

const rows = [
  { property: 'user.ssn', map: '{{event.event_properties.ssn}}', modification: 'Encrypted' },
  { property: 'list', map: '{{event.event_properties.list}}', modification: 'Encrypted' },
  { property: 'gone', map: '{{event.event_properties.gone}}', modification: 'Encrypted' },
];
const rule = {
  id: 'r',
  priority: 1,
  isEnabled: true,
  logic: null,
  action: 'send',
  eventName: null,
  mappings: rows,
  others: 'omit',
};

function mapped(): { readonly user: { readonly ssn: string }; readonly list: string } {
  const head = { id: 'e', event: 'Signup', time: 0, account_id: 'account', source_id: 's', received_at: 0 };
  const event_properties = { ssn: '078-05-1120', list: [1, { ä: null }] };
  const subject = { event: { ...head, event_properties }, visitor: { id: 'v' } };
  const outcome = compileMappings([rule], undefined, encryptionOf())(subject as never);
  if (outcome.kind !== 'send') throw new Error(outcome.kind);
  expect(Object.keys(outcome.properties)).toEqual(['user', 'list']);
  return outcome.properties as never;
}

test('Encrypted: the example in the documentation reads what a mapping encrypted, and no value is left in clear text', async () => {
  const decrypt = await example();
  const { user, list } = mapped();
  const { privateKey } = keys;
  expect(decrypt(encryptionOf()(0, 'id', '7'), { ...place, privateKey, property: 'id' })).toBe(7);
  expect(decrypt(user.ssn, { ...place, privateKey, property: 'user.ssn' })).toBe('078-05-1120');
  expect(decrypt(list, { ...place, privateKey, property: 'list' })).toEqual([1, { ä: null }]);
  expect(JSON.stringify([user, list])).not.toMatch(/078|1120/);
  expect(user.ssn).toMatch(/^sluice1\.[\w-]{16}\.[\w-]{342}\.[\w-]{16}\.[\w-]+\.[\w-]{22}$/);
  // A value is bound to its property, destination and account: moved elsewhere, it cannot be decrypted.
  for (const moved of [{ property: 'list' }, { destinationId: 'other' }, { accountId: 'other' }]) {
    expect(() => decrypt(user.ssn, { ...place, privateKey, property: 'user.ssn', ...moved })).toThrow(
      /unable to authenticate/,
    );
  }
  const changed = user.ssn.replace(/\.[\w-]{22}$/, `.${'A'.repeat(22)}`);
  expect(() => decrypt(changed, { ...place, privateKey, property: 'user.ssn' })).toThrow(/unable to authenticate/);
});

test('Encrypted: a data key is used for an hour, and two encryptions of the same value differ', () => {
  let nowMs = 0;
  const encrypt = encryptionOf(() => nowMs);
  const wrapped = (): string | undefined => encrypt('same', 'p').split('.')[2];
  const first = wrapped();
  expect(encrypt('same', 'p')).not.toBe(encrypt('same', 'p'));
  nowMs = 3_599_999;
  expect(wrapped()).toBe(first);
  nowMs = 3_600_000;
  expect(wrapped()).not.toBe(first);
});

test('Encrypted: without a key, or with one that is too weak, nothing is sent and the reason names the setting', () => {
  expect(() => compileMappings([rule], undefined)).toThrow(
    /modification is Encrypted, which needs the setting encryptionKey/,
  );
  const kind = findDestinationKind('HTTPDestination');
  const prepare = (encryptionKey: string): unknown => kind?.prepare({ ...kind.exampleSettings, encryptionKey });
  const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ type: 'spki', format: 'pem' });
  const curve = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' });
  // OpenSSL reads a modulus of more than 16,384 bits, but does not encrypt with it.
  const n = Buffer.alloc(2_049, 0xff).toString('base64url');
  const huge = createPublicKey({ format: 'jwk', key: { kty: 'RSA', n, e: 'AQAB' } });
  const slow = createPublicKey({ format: 'jwk', key: { kty: 'RSA', n: n.slice(0, 344), e: n.repeat(100) } });
  for (const key of [
    weak.toString(),
    curve.toString(),
    huge.export({ type: 'spki', format: 'pem' }).toString(),
    slow.export({ type: 'spki', format: 'pem' }).toString(),
    'a key',
    '-----BEGIN PUBLIC KEY-----AAAA-----END PUBLIC KEY-----',
  ]) {
    expect(() => prepare(key)).toThrow(/^settings\.encryptionKey /);
  }
  // A text field of a form replaces line breaks by spaces.
  expect(prepare(keys.publicKey.replaceAll('\n', ' '))).toBeDefined();
});
