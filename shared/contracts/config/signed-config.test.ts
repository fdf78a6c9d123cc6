import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { readEnv } from '../../runtime/env.ts';
import { decodeAccountConfig, encodeAccountConfig } from './account-config.ts';
import type { AccountConfig } from './account-config.ts';
import {
  UntrustedConfigError,
  configSigningEnv,
  configTrustEnv,
  createConfigSigner,
  createConfigTrust,
  newConfigSigningKey,
  withoutSignature,
} from './signed-config.ts';
import type { ConfigSigner, ConfigTrust } from './signed-config.ts';

const newSigner = (): ConfigSigner => {
  const signer = createConfigSigner({ CONFIG_SIGNING_KEY: newConfigSigningKey() });
  if (signer === undefined) throw new Error('there is no key');
  return signer;
};
const config: AccountConfig = {
  format: 1,
  accountId: 'a',
  versionId: 'v',
  versionNumber: 1,
  publishedAt: '2026-11-27T00:00:00.000Z',
  sourceKeys: [],
  collections: {},
};
const document = encodeAccountConfig(config);
const sign = (): { readonly signer: ConfigSigner; readonly signed: Uint8Array } => {
  const signer = newSigner();
  return { signer, signed: signer.sign('a', document, 1_000) };
};
const accepts = (trust: ConfigTrust, bytes: Uint8Array | undefined, accountId = 'a'): boolean => {
  try {
    trust.accept(accountId, bytes);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(UntrustedConfigError);
    return false;
  }
};
const trustOf = (...signers: readonly ConfigSigner[]): ConfigTrust =>
  createConfigTrust({ CONFIG_PUBLIC_KEYS: signers.map(({ publicKey }) => publicKey).join('') });

test('signed configuration: a build that knows no signatures reads a signed document as before', () => {
  const { signer, signed } = sign();
  expect(decodeAccountConfig(signed)).toMatchObject(config);
  expect(Buffer.from(withoutSignature(signed))).toEqual(Buffer.from(document));
  expect(withoutSignature(document)).toBe(document);
  // The signature field alone, or a part of it, is not a signed document.
  const fieldAt = Buffer.from(signed).lastIndexOf(',"signature"');
  for (const field of [signed.subarray(fieldAt), signed.subarray(fieldAt + 1)])
    expect(withoutSignature(field)).toBe(field);
  expect(signer.open('a', signed)).toEqual({ document: Buffer.from(document), signedAtMs: 1_000 });
});

test('signed configuration: a document with any byte changed is refused', () => {
  const { signer, signed } = sign();
  fc.assert(
    fc.property(fc.nat({ max: signed.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, by) => {
      const changed = Buffer.from(signed);
      changed[at] = (changed[at] ?? 0) ^ by;
      // A change of the unused bits in a signature's last character leaves the document the same, and is accepted.
      const isSame = Buffer.from(signer.open('a', changed)?.document ?? []).equals(document);
      expect(isSame || !accepts(trustOf(signer), changed)).toBe(true);
    }),
  );
});

test('signed configuration: a document is accepted only for its own account, and only with one of the given keys', () => {
  const { signer, signed } = sign();
  const next = newSigner();
  expect(accepts(trustOf(signer), signed)).toBe(true);
  expect(accepts(trustOf(signer), signed, 'b')).toBe(false);
  expect(accepts(trustOf(next), signed)).toBe(false);
  expect(accepts(trustOf(next, signer), signed)).toBe(true);
  expect(accepts(trustOf(signer), document)).toBe(false);
  expect(accepts(trustOf(signer), new Uint8Array())).toBe(false);
  expect(accepts(trustOf(signer), undefined)).toBe(false);
});

test('signed configuration: a document signed before the newest is refused, but the newest is accepted again', () => {
  const { signer, signed } = sign();
  const trust = trustOf(signer);
  const older = signer.sign('a', document, 999);
  expect([older, signed, older, signed].map((bytes) => accepts(trust, bytes))).toEqual([true, true, false, true]);
});

test('signed configuration: without keys every document is accepted, and no document is signed', () => {
  expect(accepts(createConfigTrust({}), document)).toBe(true);
  expect(accepts(createConfigTrust({}), undefined)).toBe(true);
  expect(createConfigSigner({})).toBeUndefined();
});

test('signed configuration: an invalid key is refused with the name of its variable', () => {
  const broken = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----';
  expect(() => createConfigSigner({ CONFIG_SIGNING_KEY: broken })).toThrow(
    expect.objectContaining({
      message: expect.stringContaining('CONFIG_SIGNING_KEY: it must be an Ed25519 key') as string,
      cause: expect.any(Error) as Error,
    }) as Error,
  );
  const other = generateKeyPairSync('x25519');
  const [otherPrivate, otherPublic] = [
    other.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    other.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  ];
  expect(() => createConfigSigner({ CONFIG_SIGNING_KEY: otherPrivate })).toThrow('must be an Ed25519 key');
  expect(() => createConfigTrust({ CONFIG_PUBLIC_KEYS: otherPublic })).toThrow('must be an Ed25519 key');
  const half = '-----BEGIN PUBLIC KEY-----\nAAAA';
  expect(() => createConfigTrust({ CONFIG_PUBLIC_KEYS: half })).toThrow(
    /CONFIG_PUBLIC_KEYS: it must be an Ed25519 key/,
  );
});

test('signed configuration: keys are optional, and a text that is no key in PEM is refused at the start', () => {
  const { signer } = sign();
  const readFile = (): string => expect.unreachable();
  const key = { CONFIG_SIGNING_KEY: newConfigSigningKey() };
  expect([
    readEnv(Type.Object(configSigningEnv), {}, readFile),
    readEnv(Type.Object(configSigningEnv), key, readFile),
  ]).toEqual([{}, key]);
  expect(() => readEnv(Type.Object(configSigningEnv), { CONFIG_SIGNING_KEY: 'text' }, readFile)).toThrow(
    'CONFIG_SIGNING_KEY',
  );
  const trusted = { CONFIG_PUBLIC_KEYS: signer.publicKey };
  expect([
    readEnv(Type.Object(configTrustEnv), {}, readFile),
    readEnv(Type.Object(configTrustEnv), trusted, readFile),
  ]).toEqual([{}, trusted]);
  expect(() => readEnv(Type.Object(configTrustEnv), { CONFIG_PUBLIC_KEYS: 'text' }, readFile)).toThrow(
    'CONFIG_PUBLIC_KEYS',
  );
});
