import jws from 'jws';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { SettingError } from './settings.ts';
import { textOf } from './event.ts';

/** The members that are read from the JSON key of a service account. */
export type ServiceAccountKey = {
  readonly projectId: string | undefined;
  readonly email: string;
  readonly keyId: string | undefined;
  /** RSA private key, PEM. */
  readonly privateKey: string;
};

export type GoogleServiceAccount = {
  readonly projectId: string | undefined;
  /**
   * A bearer token for requests at `nowMs`. One token is reused for half an hour and stays valid
   * for at least another half hour.
   */
  token(nowMs: number): string;
};

const tokenPeriodMs = 30 * 60_000;
const tokenSeconds = 3_600;
/** How far the local clock may be ahead of Google's. */
const clockSkewSeconds = 60;

/**
 * Reads the JSON key of a service account. Tokens are self-signed JSON Web Tokens, which Google's
 * APIs accept directly (https://google.aip.dev/auth/4111), so no token request is needed. Throws
 * SettingError.
 */
export function readServiceAccount(text: string, key: string, audience: string): GoogleServiceAccount {
  const { projectId, email, keyId, privateKey } = readServiceAccountKey(text, key);
  let period = Number.NaN;
  let token = '';
  return {
    projectId,
    token(nowMs) {
      const current = Math.floor(nowMs / tokenPeriodMs);
      if (current !== period) {
        const issuedAt = (current * tokenPeriodMs) / 1_000 - clockSkewSeconds;
        token = jws.sign({
          header: { alg: 'RS256', typ: 'JWT', ...(keyId === undefined ? {} : { kid: keyId }) },
          payload: { iss: email, sub: email, aud: audience, iat: issuedAt, exp: issuedAt + tokenSeconds },
          privateKey,
        });
        period = current;
      }
      return token;
    },
  };
}

/** Reads the JSON key of a service account. Throws SettingError. */
export function readServiceAccountKey(text: string, key: string): ServiceAccountKey {
  const file = parse(key, text);
  const email = textOf(file['client_email']);
  const privateKey = textOf(file['private_key']);
  if (email === undefined || privateKey === undefined) {
    throw new SettingError(key, 'must be the JSON key of a service account, with client_email and private_key');
  }
  checkPrivateKey(privateKey, key);
  return { projectId: textOf(file['project_id']), email, keyId: textOf(file['private_key_id']), privateKey };
}

let example: string | undefined;

/** The key of a nonexistent account, generated on first use. */
export function exampleServiceAccount(): string {
  example ??= JSON.stringify({
    type: 'service_account',
    project_id: 'example-project',
    private_key_id: 'example',
    private_key: generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({
      type: 'pkcs8',
      format: 'pem',
    }),
    client_email: 'sluice@example-project.iam.gserviceaccount.com',
  });
  return example;
}

function parse(key: string, text: string): JsonObject {
  try {
    const file: unknown = JSON.parse(text);
    if (isJsonObject(file)) return file;
  } catch {
    // The error is thrown below.
  }
  throw new SettingError(key, 'must be a JSON object');
}

const bitsMax = 4_096;
/** A key of `bitsMax` bits has 2,351 bytes in PKCS #1. The limit bounds its exponents and primes, too. */
const keyBytesMax = 2_400;

/** The key signs tokens in a thread of all accounts: larger numbers would block it for seconds. */
function checkPrivateKey(pem: string, key: string): void {
  const privateKey = readRsaKey(pem);
  if (privateKey === undefined) throw new SettingError(key, 'has a private_key that cannot be read');
  // The size first: Node reads the details of a key with a large exponent for seconds.
  const isLarge =
    privateKey.export({ type: 'pkcs1', format: 'der' }).byteLength > keyBytesMax ||
    (privateKey.asymmetricKeyDetails?.modulusLength ?? Infinity) > bitsMax;
  if (isLarge) throw new SettingError(key, `has a private_key that is larger than an RSA key of ${bitsMax} bits`);
}

function readRsaKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'rsa' ? key : undefined;
  } catch {
    return undefined;
  }
}
