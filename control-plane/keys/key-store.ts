import type { EntityManager } from '@mikro-orm/postgresql';
import { uuidv7 } from 'uuidv7';
import { ApiKey } from '../../shared/storage/entities/api-key.ts';
import type { ApiKeyRow } from '../../shared/storage/entities/api-key.ts';
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
