import { collectionNames } from '../../shared/contracts/config/account-config.ts';
import type {
  AccountConfig,
  CollectionName,
  Snapshot,
  SnapshotEntity,
} from '../../shared/contracts/config/account-config.ts';

export type TestCollections = Partial<Record<CollectionName, readonly SnapshotEntity[]>>;

/** A published configuration with the collections given and nothing else. */
export function accountConfig(
  accountId: string,
  collections: TestCollections,
  publishedAtMs = Date.now(),
): AccountConfig {
  const empty = Object.fromEntries(collectionNames.map((name) => [name, []])) as unknown as Snapshot;
  return {
    format: 1,
    accountId,
    versionId: 'version',
    versionNumber: 1,
    publishedAt: new Date(publishedAtMs).toISOString(),
    sourceKeys: [],
    collections: { ...empty, ...collections },
  };
}

/** A published HTTP destination. */
export function httpEntity(id: string, url: string, own: Readonly<Record<string, unknown>> = {}): SnapshotEntity {
  const { settings, ...rest } = own;
  return {
    id,
    type: 'HTTPDestination',
    status: 'Enabled',
    settings: { httpDestinationUrl: url, ...(settings as object | undefined) },
    limitedToSourceIds: null,
    hashingSalt: null,
    ...rest,
  };
}
