import jws from 'jws';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { SettingError } from './settings.ts';
import { textOf } from './event.ts';

/** The JSON key of a service account, as far as it is of use. */
export type ServiceAccountKey = {
  readonly projectId: string | undefined;
  readonly email: string;
  readonly keyId: string | undefined;
  /** RSA, PEM. */
  readonly privateKey: string;
};

export type GoogleServiceAccount = {
  readonly projectId: string | undefined;
  /** A bearer token for requests made at `nowMs`: the same one for half an hour, good for at least as long again. */
  token(nowMs: number): string;
};

const tokenPeriodMs = 30 * 60_000;
const tokenSeconds = 3_600;
/** How far the clock here may be ahead of Google's. */
const clockSkewSeconds = 60;

/**
 * Reads the JSON key of a service account. Tokens are JSON Web Tokens signed with it, which Google's APIs take as they
 * are: https://google.aip.dev/auth/4111. No other service is asked. Throws SettingError.
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
  if (!isRsaKey(privateKey)) throw new SettingError(key, 'holds a private_key that cannot be read');
  return { projectId: textOf(file['project_id']), email, keyId: textOf(file['private_key_id']), privateKey };
}

let example: string | undefined;

/** The key of an account that does not exist, made when it is first asked for. */
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
    // Said below.
  }
  throw new SettingError(key, 'must be a JSON object');
}

function isRsaKey(pem: string): boolean {
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa';
  } catch {
    return false;
  }
}
