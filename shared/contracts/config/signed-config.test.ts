import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeAccountConfig, encodeAccountConfig } from './account-config.ts';
import type { AccountConfig } from './account-config.ts';
import {
  UntrustedConfigError,
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
const signer = newSigner();
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
const signed = signer.sign('a', document, 1_000);
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

test('signed configuration: a build that knows no signatures reads it as before', () => {
  expect(decodeAccountConfig(signed)).toMatchObject(config);
  expect(Buffer.from(withoutSignature(signed))).toEqual(Buffer.from(document));
  expect(withoutSignature(document)).toBe(document);
  expect(signer.open('a', signed)).toEqual({ document: Buffer.from(document), signedAtMs: 1_000 });
});

test('signed configuration: no byte of it can be changed', () => {
  fc.assert(
    fc.property(fc.nat({ max: signed.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, by) => {
      const changed = Buffer.from(signed);
      changed[at] = (changed[at] ?? 0) ^ by;
      // The last character of a signature has bits that mean nothing.
      const isSame = Buffer.from(signer.open('a', changed)?.document ?? []).equals(document);
      expect(isSame || !accepts(trustOf(signer), changed)).toBe(true);
    }),
  );
});

test('signed configuration: it is good for its account, under one of the keys that are given', () => {
  const next = newSigner();
  expect(accepts(trustOf(signer), signed)).toBe(true);
  expect(accepts(trustOf(signer), signed, 'b')).toBe(false);
  expect(accepts(trustOf(next), signed)).toBe(false);
  expect(accepts(trustOf(next, signer), signed)).toBe(true);
  expect(accepts(trustOf(signer), document)).toBe(false);
  expect(accepts(trustOf(signer), new Uint8Array())).toBe(false);
  expect(accepts(trustOf(signer), undefined)).toBe(false);
});

test('signed configuration: one that was signed before the newest is refused, the same one is not', () => {
  const trust = trustOf(signer);
  const older = signer.sign('a', document, 999);
  expect([older, signed, older, signed].map((bytes) => accepts(trust, bytes))).toEqual([true, true, false, true]);
});

test('signed configuration: without keys everything is accepted, and nothing signed', () => {
  expect(accepts(createConfigTrust({}), document)).toBe(true);
  expect(accepts(createConfigTrust({}), undefined)).toBe(true);
  expect(createConfigSigner({})).toBeUndefined();
});

test('signed configuration: a key that is none is refused by its name', () => {
  const broken = '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----';
  expect(() => createConfigSigner({ CONFIG_SIGNING_KEY: broken })).toThrow(
    /CONFIG_SIGNING_KEY: it must be an Ed25519 key/,
  );
  const half = '-----BEGIN PUBLIC KEY-----\nAAAA';
  expect(() => createConfigTrust({ CONFIG_PUBLIC_KEYS: half })).toThrow(
    /CONFIG_PUBLIC_KEYS: it must be an Ed25519 key/,
  );
});
