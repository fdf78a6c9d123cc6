import { constants, createCipheriv, createHash, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { stringifyExact } from '../../json/exact-numbers.ts';

/** Encrypts the value of a property for a destination. `digits`: the exact digits of a number, if they are known. */
export type EncryptValue = (value: unknown, property: string, digits?: string) => string;

/** A key that cannot encrypt values. The message names the fault. */
export class EncryptionKeyError extends Error {
  readonly code = 'encryption_key';
}

const bitsMin = 2_048;

/**
 * Reads an RSA public key in PEM; spaces may replace its line breaks, which text fields lose. Throws
 * EncryptionKeyError.
 */
export function readEncryptionKey(pem: string): KeyObject {
  const [, base64] = /-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----/.exec(pem) ?? [];
  if (base64 === undefined) throw new EncryptionKeyError('must be a public key in PEM (-----BEGIN PUBLIC KEY-----)');
  let key: KeyObject;
  try {
    key = createPublicKey({ key: Buffer.from(base64.replaceAll(/\s/g, ''), 'base64'), format: 'der', type: 'spki' });
  } catch (cause) {
    throw new EncryptionKeyError('cannot be read as a public key', { cause });
  }
  const weak = `must be an RSA key of at least ${bitsMin} bits`;
  if (key.asymmetricKeyType !== 'rsa') throw new EncryptionKeyError(weak);
  try {
    wrap(key, randomBytes(keyBytes));
  } catch (cause) {
    throw new EncryptionKeyError('cannot encrypt values', { cause });
  }
  // Read last: OpenSSL has refused large exponents by now, with which Node reads the details for seconds.
  if ((key.asymmetricKeyDetails?.modulusLength ?? 0) < bitsMin) throw new EncryptionKeyError(weak);
  return key;
}

function wrap(publicKey: KeyObject, dataKey: Buffer): Buffer {
  return publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, dataKey);
}

export type EncryptionOptions = {
  readonly publicKey: KeyObject;
  readonly accountId: string;
  readonly destinationId: string;
  /** Monotonic clock, in ms. */
  now?(): number;
};

/**
 * A data key is used for at most this time and this many values: a random nonce must not occur twice under one key
 * (NIST SP 800-38D).
 */
const dataKeyMs = 3_600_000;
const dataKeyValuesMax = 2 ** 31;
const keyBytes = 32;
const nonceBytes = 12;
const keyIdCharacters = 16;

/**
 * Encrypts values as `sluice1.<key id>.<wrapped data key>.<nonce>.<ciphertext>.<tag>`, the last four in base64url. The
 * plain text is the JSON of the value; the data key is AES-256-GCM, wrapped by RSA-OAEP with SHA-256; the additional
 * data is account, destination and property, each on a line, so that a value is valid in its place only. The key id is
 * the beginning of the base64url SHA-256 of the public key (SubjectPublicKeyInfo).
 */
export function createEncryption({
  publicKey,
  accountId,
  destinationId,
  now = () => performance.now(),
}: EncryptionOptions): EncryptValue {
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  const keyId = createHash('sha256').update(spki).digest('base64url').slice(0, keyIdCharacters);
  let data = { key: Buffer.alloc(0), wrapped: '', endsMs: -Infinity, values: 0 };
  return (value, property, digits) => {
    if (now() >= data.endsMs || data.values >= dataKeyValuesMax) {
      const key = randomBytes(keyBytes);
      data = { key, wrapped: wrap(publicKey, key).toString('base64url'), endsMs: now() + dataKeyMs, values: 0 };
    }
    data.values += 1;
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', data.key, nonce);
    cipher.setAAD(Buffer.from(`${accountId}\n${destinationId}\n${property}`));
    const encrypted = Buffer.concat([cipher.update(digits ?? stringifyExact(value, value), 'utf8'), cipher.final()]);
    const parts = [nonce, encrypted, cipher.getAuthTag()].map((part) => part.toString('base64url'));
    return ['sluice1', keyId, data.wrapped, ...parts].join('.');
  };
}
