import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { optionalSecret, secret } from '../../runtime/variables.ts';

/** Text sealed with AES-256-GCM: `enc:v1:` and base64url of nonce, tag and cipher text. */
export type SecretBox = {
  /** `context` binds the cipher text to its place (account, entity, key): moved elsewhere it does not open. */
  seal(plain: string, context: string): string;
  open(sealed: string, context: string): string;
};

export class SecretError extends Error {
  readonly code = 'secret';
}

const prefix = 'enc:v1:';
const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;

export function isSealed(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(prefix);
}

/** `keyBase64`: 32 bytes, base64 or base64url. Throws SecretError when it is not. */
export function createSecretBox(keyBase64: string): SecretBox {
  const key = Buffer.from(keyBase64, 'base64');
  if (key.length !== keyBytes) throw new SecretError('reading SECRETS_KEY: it must be 32 bytes in base64');
  return {
    seal(plain, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return prefix + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
    },
    open(sealed, context) {
      if (!isSealed(sealed)) throw new SecretError('opening a secret: the value is not sealed');
      const bytes = Buffer.from(sealed.slice(prefix.length), 'base64url');
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes)).setAAD(
          Buffer.from(context),
        );
        decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
        const body = bytes.subarray(nonceBytes + tagBytes);
        return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
      } catch (error) {
        throw new SecretError('opening a secret: the key or its place is not the one it was sealed for', {
          cause: error,
        });
      }
    },
  };
}

/** The context of a destination's setting: see SecretBox.seal. */
export function settingContext(accountId: string, destinationId: string, key: string): string {
  return `${accountId}/${destinationId}/settings.${key}`;
}

/** The context of the secret by which a source knows its sender: see SecretBox.seal. */
export function signingSecretContext(accountId: string, sourceId: string): string {
  return `${accountId}/${sourceId}/signing-secret`;
}

/** The context of a source's key: see SecretBox.seal. */
export function sourceKeyContext(accountId: string, sourceId: string, test: boolean): string {
  return `${accountId}/${sourceId}/source-key.${test ? 'test' : 'live'}`;
}

/** The key of SecretBox. */
export const secretsEnv = {
  SECRETS_KEY: secret(
    'Seals and opens the secrets of destinations and source keys, and signs list cursors. The same for the control plane and the pipeline',
    { pattern: '^[A-Za-z0-9+/_-]{43}=?$', mustBe: '32 bytes in base64' },
  ),
};

/** The key of the SecretBox for what gateways have to open. */
export const sourceSecretsEnv = {
  SOURCE_SECRETS_KEY: optionalSecret(
    'Seals and opens the signing secrets of sources. The same for the control plane and the gateway, and not SECRETS_KEY: a gateway opens nothing else. Without it no source can have one',
    { pattern: '^[A-Za-z0-9+/_-]{43}=?$', mustBe: '32 bytes in base64' },
  ),
};
