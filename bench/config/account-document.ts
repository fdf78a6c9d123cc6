import type { AccountConfig, SnapshotEntity } from '../../shared/contracts/config/account-config.ts';
import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import { collectionNames } from '../../shared/collections/registry.ts';
import { sourceIdOf } from './ids.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { putAccountConfig } from '../../shared/testing/put-account-config.ts';

/** A destination of the bench: an HTTP endpoint. */
export type BenchDestination = { readonly id: string; readonly url: string; readonly batchSize?: number };

export type BenchAccount = {
  readonly accountId: string;
  /** Key of the account's only source. */
  readonly token?: string;
  readonly destinations?: readonly BenchDestination[];
  /** Further sources, each with an unused key. */
  readonly moreSources?: number;
};

const hourMs = 3_600_000;

/** The document that the control plane would publish for an account. */
export function accountDocument({ accountId, token, destinations = [], moreSources = 0 }: BenchAccount): AccountConfig {
  const empty = Object.fromEntries(collectionNames.map((name) => [name, []]));
  const source = { id: sourceIdOf(accountId), name: 'bench', type: 'NodejsApi', status: 'Enabled' };
  const others = Array.from({ length: moreSources }, (_, index) => ({ ...source, id: `${source.id}-${index}` }));
  const ownKeys = token === undefined ? [] : [{ keyHash: hashSourceKey(token), sourceId: source.id, test: false }];
  const otherKeys = others.map(({ id }) => ({ keyHash: hashSourceKey(`src_live_${id}`), sourceId: id, test: false }));
  return {
    format: 1,
    accountId,
    versionId: 'bench-version',
    versionNumber: 1,
    // A destination receives events from this time on, so it is before the first event that a scenario writes.
    publishedAt: new Date(Date.now() - hourMs).toISOString(),
    sourceKeys: [...ownKeys, ...otherKeys],
    collections: { ...empty, sources: [source, ...others], destinations: destinations.map(httpDestination) },
  };
}

function httpDestination({ id, url, batchSize = 1 }: BenchDestination): SnapshotEntity {
  return {
    id,
    name: id,
    type: 'HTTPDestination',
    status: 'Enabled',
    settings: { httpDestinationUrl: url, method: 'POST', batchSize: String(batchSize) },
    limitedToSourceIds: null,
    hashingSalt: null,
  };
}

/** Writes accounts to the buckets from which gateways and pipelines read them, as the control plane does. */
export async function publishAccounts(natsUrl: string, accounts: readonly BenchAccount[], replicas = 1): Promise<void> {
  const connection = await connectLog({ url: natsUrl, name: 'bench' });
  try {
    const buckets = await openBuckets(connection, replicas);
    for (const account of accounts) await putAccountConfig(buckets, accountDocument(account));
  } finally {
    await connection.close();
  }
}
