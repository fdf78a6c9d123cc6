import type { EntityManager } from '@mikro-orm/postgresql';
import { uuidv7 } from 'uuidv7';
import { ApiKey } from '../../shared/postgres/entities.ts';
import type { ApiKeyRow } from '../../shared/postgres/entities.ts';
import type { Position } from '../api/pagination.ts';
import { conflict } from '../api/api-error.ts';
import { isUuid } from '../store/text.ts';
import { issueApiKey } from './api-key.ts';

export type NewKey = {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
};

/** Adds a key to an account. The key itself is only in this answer, never in the database. */
export async function addApiKey(
  em: EntityManager,
  accountId: string,
  wanted: NewKey,
  now: Date,
): Promise<{ readonly key: string; readonly row: ApiKeyRow }> {
  const { key, kid, secretHash } = issueApiKey();
  const row = em.create(ApiKey, {
    id: uuidv7(),
    accountId,
    kid,
    name: wanted.name,
    secretHash,
    scopes: [...wanted.scopes],
    createdAt: now,
    expiresAt: wanted.expiresAt,
    revokedAt: null,
    lastUsedAt: null,
  });
  await em.persist(row).flush();
  return { key, row };
}

/** Maximum number of ended keys that an account keeps in its list. */
const endedMax = 1_000;

/**
 * Throws a 409 with the limit if the account has its maximum number of valid keys. Deletes keys that ended long ago.
 */
export async function makeRoomForKey(em: EntityManager, accountId: string, keysMax: number, now: Date): Promise<void> {
  const valid = { accountId, revokedAt: null, $or: [{ expiresAt: null }, { expiresAt: { $gt: now } }] };
  if ((await em.count(ApiKey, valid)) >= keysMax) {
    throw conflict(`an account may have ${keysMax} valid API keys (ACCOUNT_KEYS_MAX): revoke one first`);
  }
  await em.execute(
    `delete from api_keys where account_id = ? and id in (
       select id from api_keys where account_id = ? and (revoked_at is not null or expires_at <= ?)
       order by coalesce(revoked_at, expires_at) desc offset ?)`,
    [accountId, accountId, now, endedMax],
  );
}

/** Up to `limit` keys of an account after a position, newest first. */
export async function listApiKeys(
  em: EntityManager,
  accountId: string,
  page: { readonly limit: number; readonly after: Position | undefined },
): Promise<ApiKeyRow[]> {
  const query = em.createQueryBuilder(ApiKey).where({ accountId });
  if (page.after !== undefined) {
    const [createdAtMs, id] = page.after;
    void query.andWhere('(created_at, id) < (?, ?::uuid)', [new Date(Number(createdAtMs)), String(id)]);
  }
  return query.orderBy({ createdAt: 'desc', id: 'desc' }).limit(page.limit).getResultList();
}

/**
 * Ends a key, given by its id or its kid; a key that has already ended does not change. Undefined if there is no such
 * key.
 */
export async function revokeApiKey(
  em: EntityManager,
  accountId: string,
  idOrKid: string,
  now: Date,
): Promise<ApiKeyRow | undefined> {
  const row = await em.findOne(ApiKey, isUuid(idOrKid) ? { accountId, id: idOrKid } : { accountId, kid: idOrKid });
  if (row === null) return undefined;
  row.revokedAt ??= now;
  await em.flush();
  return row;
}
