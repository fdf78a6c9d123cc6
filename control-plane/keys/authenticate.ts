import type { EntityManager } from '@mikro-orm/postgresql';
import { ApiKey } from '../../shared/postgres/entities.ts';
import type { Principal } from '../api/define-endpoint.ts';
import type { RefusalReason, RefusedKey } from './refused-logins.ts';
import { withInstallation } from './scopes.ts';
import { hashApiKey, readKid, sameHash } from './api-key.ts';

const bearer = /^Bearer +([\x21-\x7e]+)$/i;
const noHash = '0'.repeat(64);
/** Last use is recorded to the minute, so that reading does not mean writing. */
const lastUsedEveryMs = 60_000;

export type Authenticate = typeof authenticate;

/** The same where `all` stands for the installation, too, or does not: `SYSTEM_FIND_WITH_ALL`. */
export function createAuthenticate(allSeesInstallation: boolean): Authenticate {
  if (!allSeesInstallation) return authenticate;
  return async (...given) => {
    const principal = await authenticate(...given);
    return principal === undefined ? undefined : { ...principal, scopes: withInstallation(principal.scopes) };
  };
}

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
    // A request without any key is no failed login.
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
  if (now.getTime() - (row.lastUsedAt?.getTime() ?? 0) > lastUsedEveryMs) {
    await em.nativeUpdate(ApiKey, { id: row.id }, { lastUsedAt: now });
  }
  return {
    accountId: row.accountId,
    keyId: row.id,
    keyName: row.name,
    scopes: row.scopes,
    expiresAt: row.expiresAt ?? null,
  };
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
