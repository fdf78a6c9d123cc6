import type { AccountConfig, SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { testAccountConfig } from '../../shared/testing/test-account-config.ts';
import type { TestCollections } from '../../shared/testing/test-account-config.ts';

/** A published configuration with the collections given and nothing else. */
export function accountConfig(
  accountId: string,
  collections: TestCollections,
  publishedAtMs = Date.now(),
): AccountConfig {
  return testAccountConfig(collections, { accountId, publishedAt: new Date(publishedAtMs).toISOString() });
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
