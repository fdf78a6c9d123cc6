import type { EntityManager } from '@mikro-orm/postgresql';
import type { AccountConfig, SourceSecret } from '../../shared/contracts/config/account-config.ts';
import { readPlanSettings } from '../../shared/contracts/config/plan-settings.ts';
import type { Snapshot } from '../../shared/collections/registry.ts';

type Published = Pick<AccountConfig, 'accountId' | 'versionId' | 'versionNumber' | 'publishedAt'>;

/** The configuration that the account runs now, as in the CONFIG bucket; undefined before its first publish. */
export async function readAccountDocument(em: EntityManager, accountId: string): Promise<AccountConfig | undefined> {
  const [version] = await em.execute<LiveRow[]>(
    // A version may go live again: `published_at` is then the time of its newest publication, not of its first.
    `select versions.id, versions.version_number, coalesce(publications.published_at, versions.published_at) as published_at,
       content
     from accounts
     join versions on versions.account_id = accounts.id and versions.id = live_version_id
     left join publications on publications.account_id = accounts.id and ended_at is null and version_id = versions.id
     where accounts.id = ?`,
    [accountId],
  );
  if (version === undefined) return undefined;
  const published: Published = {
    accountId,
    versionId: version.id,
    versionNumber: version.version_number,
    publishedAt: new Date(version.published_at).toISOString(),
  };
  return buildAccountDocument(em, published, version.content);
}

/** The document of a version: its snapshot, the current keys of its sources, and the account's settings. */
export async function buildAccountDocument(
  em: EntityManager,
  published: Published,
  content: Snapshot,
): Promise<AccountConfig> {
  const sources = new Set(content.sources.map(({ id }) => id));
  const keys = await em.execute<KeyRow[]>(
    'select key_hash, source_id, test from source_keys where account_id = ? and revoked_at is null order by id',
    [published.accountId],
  );
  const sourceKeys = keys
    .filter((key) => sources.has(key.source_id))
    .map((key) => ({ keyHash: key.key_hash, sourceId: key.source_id, test: key.test }));
  const [account] = await em.execute<SettingsRow[]>('select identity, plan_settings from accounts where id = ?', [
    published.accountId,
  ]);
  const secrets = await em.execute<SourceSecret[]>(
    'select source_id as "sourceId", sealed from source_secrets where account_id = ? order by source_id',
    [published.accountId],
  );
  const identity = account?.identity ?? undefined;
  const plan = account?.plan_settings ?? undefined;
  const sourceSecrets = secrets.filter(({ sourceId }) => sources.has(sourceId));
  return {
    format: 1,
    ...published,
    sourceKeys,
    collections: content,
    // Absent if the account has no such settings, so that its configuration has the same bytes as in earlier builds.
    ...(identity === undefined ? {} : { identity }),
    ...(plan === undefined ? {} : { planSettings: readPlanSettings(plan) }),
    ...(sourceSecrets.length === 0 ? {} : { sourceSecrets }),
  };
}

// Reads rows without the ORM, because a document can be large and have thousands of keys.
type LiveRow = {
  readonly id: string;
  readonly version_number: number;
  readonly published_at: string | Date;
  readonly content: Snapshot;
};
type SettingsRow = { readonly identity: unknown; readonly plan_settings: unknown };
type KeyRow = { readonly key_hash: string; readonly source_id: string; readonly test: boolean };
