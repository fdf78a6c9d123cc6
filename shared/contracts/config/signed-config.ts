import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { CannotStartError } from '../../runtime/cannot-start.ts';
import { defineSettings, fromEnv } from '../../runtime/settings.ts';
import { optionalSecret, optionalText } from '../../runtime/variables.ts';

/*
 * A signed configuration is the JSON text of the configuration with one more field at its end: `,"signature":"<time of
 * signing, ms since the epoch>.<Ed25519, base64url>"}`. Builds without signatures ignore the field. The signature
 * covers the account (`gateway.<account>` in a gateway's configuration), the time and the text without the field. So a
 * document is valid for its account only, and a reader refuses a document that is older than its own.
 */

/** Returns undefined without CONFIG_SIGNING_KEY. Throws CannotStartError for a key that is not Ed25519. */
export const { variables: configSigningEnv, read: createConfigSigner } = defineSettings(
  fromEnv(
    {
      CONFIG_SIGNING_KEY: optionalSecret(
        'Signs what control planes publish: an Ed25519 key in PEM (`openssl genpkey -algorithm ed25519`). Only control planes have it. Without it configuration is not signed',
        { pattern: '-----BEGIN PRIVATE KEY-----' },
      ),
    },
    ({ CONFIG_SIGNING_KEY: pem }) => (pem === undefined ? undefined : signerOf(pem)),
  ),
);

/** Without CONFIG_PUBLIC_KEYS the result accepts everything. Throws CannotStartError for keys that are not Ed25519. */
export const { variables: configTrustEnv, read: createConfigTrust } = defineSettings(
  fromEnv(
    {
      CONFIG_PUBLIC_KEYS: optionalText(
        'Public keys of CONFIG_SIGNING_KEY in PEM (`openssl pkey -pubout`), one after the other while it is rotated. Configuration signed by none of them is refused. Without public keys, any configuration in the log is accepted',
        { pattern: '-----BEGIN PUBLIC KEY-----' },
      ),
    },
    ({ CONFIG_PUBLIC_KEYS: pem }): ConfigTrust => (pem === undefined ? { accept: () => undefined } : trustOf(pem)),
  ),
);

/** The document without its signature, and the time of the signature, in ms since the epoch. */
export type OpenedConfig = { readonly document: Uint8Array; readonly signedAtMs: number };

/** Signs an account's published documents. */
export type ConfigSigner = {
  sign(accountId: string, document: Uint8Array, signedAtMs: number): Uint8Array;
  /** Returns undefined if the bytes have no signature of this key for this account. */
  open(accountId: string, bytes: Uint8Array): OpenedConfig | undefined;
  /** The public key with which readers verify, PEM. */
  readonly publicKey: string;
};

/** A configuration that no trusted key signed, that is older than the newest one, or whose entry was deleted. */
export class UntrustedConfigError extends Error {
  readonly code = 'untrusted_config';
}

/** Decides which configurations a process accepts. One per process: it remembers each account's newest signing time. */
export type ConfigTrust = {
  /**
   * Undefined bytes mean that the account's entry was deleted. Throws UntrustedConfigError for a document or a deletion
   * that must not be accepted.
   */
  accept(accountId: string, bytes: Uint8Array | undefined): void;
};

const fieldStart = ',"signature":"';
const fieldEnd = '"}';
const timeDigits = 13;
const signatureCharacters = 86;
const fieldBytes = fieldStart.length + timeDigits + 1 + signatureCharacters + fieldEnd.length;
const fieldPattern = /^,"signature":"(\d{13})\.([A-Za-z0-9_-]{86})"\}$/;

function signerOf(pem: string): ConfigSigner {
  const key = readKey('CONFIG_SIGNING_KEY', () => createPrivateKey(pem));
  const publicKey = createPublicKey(key);
  return {
    sign(accountId, document, signedAtMs) {
      const time = String(signedAtMs).padStart(timeDigits, '0');
      const signature = sign(null, signedText(accountId, time, document), key).toString('base64url');
      return Buffer.concat([document.subarray(0, -1), Buffer.from(`${fieldStart}${time}.${signature}${fieldEnd}`)]);
    },
    open: (accountId, bytes) => openSigned([publicKey], accountId, bytes),
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

/** Creates a private key for CONFIG_SIGNING_KEY: Ed25519, PEM. */
export const newConfigSigningKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

const keyBlock = /-----BEGIN PUBLIC KEY-----[^-]+-----END PUBLIC KEY-----/g;

function trustOf(pem: string): ConfigTrust {
  const blocks = pem.match(keyBlock);
  if (blocks === null) throw notEd25519('CONFIG_PUBLIC_KEYS');
  const keys = blocks.map((block) => readKey('CONFIG_PUBLIC_KEYS', () => createPublicKey(block)));
  // Times of signing by account. Unsigned documents add no entry.
  const newest = new Map<string, number>();
  return {
    accept(accountId, bytes) {
      if (bytes === undefined) throw new UntrustedConfigError('the entry was deleted, which no control plane does');
      const opened = openSigned(keys, accountId, bytes);
      if (opened === undefined) throw new UntrustedConfigError('it is not signed by a key in CONFIG_PUBLIC_KEYS');
      if (opened.signedAtMs < (newest.get(accountId) ?? 0)) {
        throw new UntrustedConfigError('a configuration that was signed later is in force');
      }
      newest.set(accountId, opened.signedAtMs);
    },
  };
}

/** The configuration without its signature, which is not verified. */
export function withoutSignature(bytes: Uint8Array): Uint8Array {
  return fieldOf(bytes)?.document ?? bytes;
}

function openSigned(keys: readonly KeyObject[], accountId: string, bytes: Uint8Array): OpenedConfig | undefined {
  const field = fieldOf(bytes);
  if (field === undefined) return undefined;
  const { document, time, signature } = field;
  const text = signedText(accountId, time, document);
  return keys.some((key) => verify(null, text, key, signature)) ? { document, signedAtMs: Number(time) } : undefined;
}

type SignatureField = { readonly document: Uint8Array; readonly time: string; readonly signature: Buffer };

function fieldOf(bytes: Uint8Array): SignatureField | undefined {
  if (bytes.length <= fieldBytes) return undefined;
  const field = Buffer.from(bytes.subarray(-fieldBytes)).toString('latin1');
  const found = fieldPattern.exec(field);
  if (found === null) return undefined;
  const [, time = '', signature = ''] = found;
  const document = Buffer.concat([bytes.subarray(0, -fieldBytes), Buffer.from('}')]);
  return { document, time, signature: Buffer.from(signature, 'base64url') };
}

function signedText(accountId: string, time: string, document: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(`sluice configuration\n${accountId}\n${time}\n`), document]);
}

function readKey(variable: string, read: () => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch (error) {
    throw notEd25519(variable, error);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw notEd25519(variable);
  return key;
}

const notEd25519 = (variable: string, cause?: unknown): CannotStartError =>
  new CannotStartError(
    `reading ${variable}: it must be an Ed25519 key in PEM. Make one with: openssl genpkey -algorithm ed25519`,
    { cause },
  );
