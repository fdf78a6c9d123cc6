import { createHash, createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import type { Pool } from 'pg';
import { accountKeyContext } from '../../shared/contracts/config/secrets.ts';
import type { SecretBox } from '../../shared/contracts/config/secrets.ts';

/** A public key in the format of RFC 8037. */
export type PublicJwk = {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
};

/** The signing keys of an account, newest first. Old keys are kept, so that their signatures can be verified. */
export async function listAccountKeys(pool: Pool, accountId: string): Promise<readonly PublicJwk[]> {
  const { rows } = await pool.query<{ public_key: PublicJwk }>(
    'select public_key from account_keys where account_id = $1 order by created_at desc, kid',
    [accountId],
  );
  return rows.map((row) => row.public_key);
}

export type AccountSigner = { readonly kid: string; sign(bytes: Buffer): Buffer };

/** Signs with the newest key of an account; creates a key if the account has no key. */
export async function accountSigner(
  pool: Pool,
  secretBox: SecretBox,
  accountId: string,
  now: Date,
): Promise<AccountSigner> {
  const key = (await newestKey(pool, accountId)) ?? (await makeKey(pool, secretBox, accountId, now));
  const pem = secretBox.open(key.sealed, accountKeyContext(accountId, key.kid));
  const privateKey = createPrivateKey(pem);
  return { kid: key.kid, sign: (bytes) => sign(null, bytes, privateKey) };
}

type StoredKey = { readonly kid: string; readonly sealed: string };

async function newestKey(pool: Pool, accountId: string): Promise<StoredKey | undefined> {
  const { rows } = await pool.query<StoredKey>(
    'select kid, private_key as sealed from account_keys where account_id = $1 order by created_at desc, kid limit 1',
    [accountId],
  );
  return rows[0];
}

async function makeKey(pool: Pool, secretBox: SecretBox, accountId: string, now: Date): Promise<StoredKey> {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  // The thumbprint of RFC 7638.
  const kid = createHash('sha256')
    .update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }))
    .digest('base64url');
  const jwk: PublicJwk = { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' };
  const pem = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const sealed = secretBox.seal(pem, accountKeyContext(accountId, kid));
  await pool.query(
    'insert into account_keys (account_id, kid, public_key, private_key, created_at) values ($1, $2, $3, $4, $5)',
    [accountId, kid, JSON.stringify(jwk), sealed, now],
  );
  return { kid, sealed };
}
