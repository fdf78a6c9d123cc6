import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { defineSettings, fromEnv } from '../../runtime/settings.ts';
import { optionalSecret, secret } from '../../runtime/variables.ts';

/**
 * Seals texts with AES-256-GCM. A sealed text is `enc:v1:`, the id of the key, a dot, and nonce, tag and cipher text in
 * base64url. Texts that were sealed by builds without key ids have neither id nor dot.
 */
export type SecretBox = {
  /** Id of the key with which texts are sealed; it reveals nothing about the key. */
  readonly keyId: string;

  /** `context` says where the text belongs (account, entity, key): it can only be opened with the same context. */
  seal(plain: string, context: string): string;
  /** Opens with any of the keys. Throws SecretError if none of them sealed it, or if the context is another one. */
  open(sealed: string, context: string): string;
};

export class SecretError extends Error {
  readonly code = 'secret';
}

const prefix = 'enc:v1:';
const nonceBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const keyIdBytes = 6;
const algorithm = 'aes-256-gcm';
const options = { authTagLength: tagBytes };

/** Shown in place of a secret. A client that sends the mask back keeps the stored value. */
export const secretMask = '********';

export function isSealed(value: unknown): value is string {
  return typeof value === 'string' && value.startsWith(prefix);
}

/** Beginning of a text sealed with this key. */
export function sealedBy(keyId: string): string {
  return `${prefix}${keyId}.`;
}

/**
 * The `current` key seals and opens; `others` only open, such as the previous key until its texts have been sealed
 * again. Each key is 32 bytes, base64 or base64url. Throws SecretError for any other key.
 */
export function createSecretBox(current: string, ...others: readonly string[]): SecretBox {
  return boxOf(
    readKey(current, 'SECRETS_KEY'),
    others.map((other) => readKey(other, 'SECRETS_KEY_PREVIOUS')),
  );
}

type SecretKey = { readonly id: string; readonly key: Buffer };

function boxOf(sealing: SecretKey, others: readonly SecretKey[]): SecretBox {
  const keys = [sealing, ...others];
  const open = (key: Buffer, bytes: Buffer, context: string): string => {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), options);
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
  };
  return {
    keyId: sealing.id,
    seal(plain, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, sealing.key, nonce, options).setAAD(Buffer.from(context));
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return sealedBy(sealing.id) + Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url');
    },
    open(sealed, context) {
      if (!isSealed(sealed)) throw new SecretError('opening a secret: the value is not sealed');
      const [text = '', keyId] = sealed.slice(prefix.length).split('.', 2).toReversed();
      const bytes = Buffer.from(text, 'base64url');
      const candidates = keys.filter(({ id }) => keyId === undefined || id === keyId);
      if (candidates.length === 0) {
        throw new SecretError(`opening a secret: it was sealed with the key ${keyId}, which is none of those given`);
      }
      let failure: unknown;
      for (const { key } of candidates) {
        try {
          return open(key, bytes, context);
        } catch (error) {
          failure = error;
        }
      }
      throw new SecretError('opening a secret: it was sealed with another key or for another place, or was changed', {
        cause: failure,
      });
    },
  };
}

function readKey(base64: string, variable: string): SecretKey {
  const key = Buffer.from(base64, 'base64');
  if (key.length !== keyBytes) throw new SecretError(`reading ${variable}: it must be 32 bytes in base64`);
  const id = Buffer.from(hkdfSync('sha256', key, '', 'sluice secrets key id', keyIdBytes)).toString('base64url');
  return { id, key };
}

/** The context of a destination's setting: see SecretBox.seal. */
export function settingContext(accountId: string, destinationId: string, key: string): string {
  return `${accountId}/${destinationId}/settings.${key}`;
}

/** The context of the secret with which a source checks its sender: see SecretBox.seal. */
export function signingSecretContext(accountId: string, sourceId: string): string {
  return `${accountId}/${sourceId}/signing-secret`;
}

/** The context of the secret that signs the identifiers of a source's visitors: see SecretBox.seal. */
export function userHashSecretContext(accountId: string, sourceId: string): string {
  return `${accountId}/${sourceId}/user-hash-secret`;
}

/** The context of the token for reading the records that a source's notices name: see SecretBox.seal. */
export function accessTokenContext(accountId: string, sourceId: string): string {
  return `${accountId}/${sourceId}/access-token`;
}

/** The context of a source's key: see SecretBox.seal. */
export function sourceKeyContext(accountId: string, sourceId: string, test: boolean): string {
  return `${accountId}/${sourceId}/source-key.${test ? 'test' : 'live'}`;
}

/** The context of the identifiers of an erased person: see SecretBox.seal. */
export function erasureSubjectContext(accountId: string, erasureId: string): string {
  return `${accountId}/${erasureId}/erasure-subject`;
}

/** The context of an account's private key: see SecretBox.seal. */
export function accountKeyContext(accountId: string, kid: string): string {
  return `${accountId}/${kid}/account-key`;
}

const keyRules = { pattern: '^[A-Za-z0-9+/_-]{43}=?$', mustBe: '32 bytes in base64' };

/** The key that seals, then the key that only opens, if there is one. */
export const { variables: secretsEnv, read: readSecretKeys } = defineSettings(
  fromEnv(
    {
      SECRETS_KEY: secret(
        'Seals and opens the secrets of destinations, the access tokens of sources and the source keys, and signs list cursors. It must be the same for the control plane and the pipeline',
        keyRules,
      ),
      SECRETS_KEY_PREVIOUS: optionalSecret(
        'Only opens secrets and seals none: the previous or the next SECRETS_KEY, while keys are rotated',
        keyRules,
      ),
    },
    ({ SECRETS_KEY: current, SECRETS_KEY_PREVIOUS: previous }): readonly [string, ...string[]] =>
      previous === undefined ? [current] : [current, previous],
  ),
);

export type SecretVariables = Parameters<typeof readSecretKeys>[0];

/**
 * The box for secrets that gateways open; undefined without SOURCE_SECRETS_KEY. Throws SecretError for an invalid key.
 */
export const { variables: sourceSecretsEnv, read: createSourceSecretBox } = defineSettings(
  fromEnv(
    {
      SOURCE_SECRETS_KEY: optionalSecret(
        'Seals and opens the signing secrets of sources. It must be the same for the control plane and the gateway, and must not be SECRETS_KEY: a gateway opens nothing else. Without it no source can have a signing secret',
        keyRules,
      ),
      SOURCE_SECRETS_KEY_PREVIOUS: optionalSecret(
        'Only opens secrets and seals none: the previous or the next SOURCE_SECRETS_KEY, while keys are rotated',
        { ...keyRules, needs: 'SOURCE_SECRETS_KEY' },
      ),
    },
    ({ SOURCE_SECRETS_KEY: current, SOURCE_SECRETS_KEY_PREVIOUS: previous }): SecretBox | undefined => {
      if (current === undefined) return undefined;
      const sealing = readKey(current, 'SOURCE_SECRETS_KEY');
      return boxOf(sealing, previous === undefined ? [] : [readKey(previous, 'SOURCE_SECRETS_KEY_PREVIOUS')]);
    },
  ),
);

export type SourceSecretVariables = Parameters<typeof createSourceSecretBox>[0];
