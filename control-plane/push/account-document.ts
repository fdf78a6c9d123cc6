import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccountConfig, SourceKey as PublishedKey, Snapshot } from '../../shared/config/account-config.ts';
import { Account } from '../../shared/storage/entities/account.ts';
import { SourceKey } from '../../shared/storage/entities/source-key.ts';
import { Version } from '../../shared/storage/entities/version.ts';
import type { VersionRow } from '../../shared/storage/entities/version.ts';

/** What the account runs now, as the CONFIG bucket holds it; undefined before its first publish. */
export async function readAccountDocument(em: EntityManager, accountId: string): Promise<AccountConfig | undefined> {
  const account = await em.findOne(Account, { id: accountId });
  if (account === null || account.liveVersionId === null || account.liveVersionId === undefined) return undefined;
  const version = await em.findOneOrFail(Version, { id: account.liveVersionId }, { populate: ['content'] });
  return buildAccountDocument(em, version, version.content);
}

/** The document a version makes: its snapshot, and the keys its sources have now. */
export async function buildAccountDocument(
  em: EntityManager,
  version: VersionRow,
  content: Snapshot,
): Promise<AccountConfig> {
  const published = new Set(content.sources.map(({ id }) => id));
  const keys = await em.find(SourceKey, { accountId: version.accountId, revokedAt: null }, { orderBy: { id: 'asc' } });
  const sourceKeys: PublishedKey[] = keys
    .filter(({ sourceId }) => published.has(sourceId))
    .map(({ keyHash, sourceId, test }) => ({ keyHash, sourceId, test }));
  return {
    format: 1,
    accountId: version.accountId,
    versionId: version.id,
    versionNumber: version.versionNumber,
    publishedAt: (version.publishedAt ?? new Date(0)).toISOString(),
    sourceKeys,
    collections: content,
  };
}

/** The bytes of a document; the same document gives the same bytes. */
export function encodeDocument(document: AccountConfig): Uint8Array {
  return Buffer.from(JSON.stringify(document));
}
