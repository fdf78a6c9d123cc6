import { readLiveConfig } from '../collections/live-config.ts';
import type { LiveConfig } from '../collections/read-live-collections.ts';
import { collectionNames } from '../collections/registry.ts';
import type { CollectionName } from '../collections/registry.ts';
import { decodeAccountConfig, encodeAccountConfig } from '../contracts/config/account-config.ts';
import type { AccountConfig, SnapshotEntity } from '../contracts/config/account-config.ts';

export type TestCollections = Partial<Record<CollectionName, readonly SnapshotEntity[]>>;

/** A published configuration with the given collections; all other collections are empty. */
export function testAccountConfig(
  collections: TestCollections,
  own: Partial<Omit<AccountConfig, 'collections'>> = {},
): AccountConfig {
  return {
    format: 1,
    accountId: 'account',
    versionId: 'version',
    versionNumber: 1,
    publishedAt: '2026-01-01T00:00:00.000Z',
    sourceKeys: [],
    ...own,
    collections: { ...Object.fromEntries(collectionNames.map((name) => [name, []])), ...collections },
  };
}

/** The configuration of `testAccountConfig` in the form in which services follow it. */
export function testLiveConfig(...published: Parameters<typeof testAccountConfig>): LiveConfig {
  return readLiveConfig(decodeAccountConfig(encodeAccountConfig(testAccountConfig(...published))));
}
