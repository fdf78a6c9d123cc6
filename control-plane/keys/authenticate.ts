import type { EntityManager } from '@mikro-orm/postgresql';
import { ApiKey } from '../../shared/postgres/entities.ts';
import type { ApiKeyRow } from '../../shared/postgres/entities.ts';
import type { Principal } from '../api/define-endpoint.ts';
import type { RefusalReason, RefusedKey } from './refused-logins.ts';
import { hashApiKey, principalOfKey, readKid, sameHash } from './api-key.ts';

const bearer = /^Bearer +([\x21-\x7e]+)$/i;
const noHash = '0'.repeat(64);
/** The last use of a key is recorded at most once a minute, so that not every read causes a write. */
const lastUsedEveryMs = 60_000;

export type Authenticate = typeof authenticate;

/** The key's owner; undefined for a missing, malformed, unknown, revoked or expired key, which are not distinguished. */
export async function authenticate(
  em: EntityManager,
  authorization: string | undefined,
  now: Date,
  onRefused: (reason: RefusalReason, key: RefusedKey | undefined) => void = () => undefined,
): Promise<Principal | undefined> {
  const key = bearer.exec(authorization ?? '')?.[1] ?? '';
  const kid = readKid(key);
  if (kid === undefined) {
    // A request without a key does not count as a failed login.
    if (authorization !== undefined) onRefused('malformed', undefined);
    return undefined;
  }
  const row = await em.findOne(ApiKey, { kid });
  const matches = sameHash(hashApiKey(key), row?.secretHash ?? noHash);
  if (row === null) {
    onRefused('unknown', undefined);
    return undefined;
  }
  if (!matches || !isValidAt(row, now)) {
    onRefused(!matches ? 'wrong-secret' : isRevokedAt(row, now) ? 'revoked' : 'expired', row);
    return undefined;
  }
  await recordUse(em, row, now);
  return principalOfKey(row);
}

/** The principal of a key whose id the service has stored; undefined if the key is revoked or expired. */
export async function principalOfKeyId(
  em: EntityManager,
  accountId: string,
  id: string,
  now: Date,
): Promise<Principal | undefined> {
  const row = await em.findOne(ApiKey, { accountId, id });
  if (row === null || !isValidAt(row, now)) return undefined;
  await recordUse(em, row, now);
  return principalOfKey(row);
}

async function recordUse(em: EntityManager, { id, accountId, lastUsedAt }: ApiKeyRow, now: Date): Promise<void> {
  if (now.getTime() - (lastUsedAt?.getTime() ?? 0) <= lastUsedEveryMs) return;
  await em.nativeUpdate(ApiKey, { accountId, id }, { lastUsedAt: now });
}

/** Whether a key is neither revoked nor expired. */
export function isValidAt(
  key: { readonly revokedAt?: Date | null | undefined; readonly expiresAt?: Date | null | undefined },
  now: Date,
): boolean {
  const expired = key.expiresAt !== null && key.expiresAt !== undefined && key.expiresAt <= now;
  return !isRevokedAt(key, now) && !expired;
}

function isRevokedAt({ revokedAt }: { readonly revokedAt?: Date | null | undefined }, now: Date): boolean {
  return revokedAt !== null && revokedAt !== undefined && revokedAt <= now;
}
