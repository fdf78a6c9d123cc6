import { leaseTtlMs } from '../../contracts/process-report.ts';
import { openBucket } from './bucket.ts';
import type { Bucket, BucketSettings } from './bucket.ts';
import type { LogConnection } from '../connection/connection.ts';
import { buckets } from '../streams/topology.ts';

/** The buckets every service knows. */
export type Buckets = {
  /** Each account's live configuration, one entry an account. Written by the control plane only. */
  readonly config: Bucket;
  /** The configuration of gateways, signed for them. Written by the control plane only. */
  readonly gatewayConfig: Bucket;
  /** What gateways and pipelines report about sources and destinations. */
  readonly health: Bucket;
  /** The live processes. */
  readonly leases: Bucket;
  /** The position of each destination in its account's log. Refuses writes when full; entries never expire. */
  readonly positions: Bucket;
  /** Requested replays and their progress. */
  readonly replays: Bucket;
  /** Access tokens of platforms, sealed. */
  readonly tokens: Bucket;
};

const mebibyte = 1024 ** 2;
const dayMs = 86_400_000;
// Entries of ended instances would stay for ever; a month keeps "last seen" times useful. A full bucket discards its
// oldest entries first, which are those of deleted destinations: live ones write.
const healthTtlMs = 30 * dayMs;
// A refresh token that a platform replaced stands nowhere else. It must outlive a pause of its destination.
const tokensTtlMs = 365 * dayMs;

/** The one set of limits all services share. */
export const bucketSettings = (replicas: number): Readonly<Record<keyof Buckets, BucketSettings>> => ({
  config: { name: buckets.config, replicas, bytesMax: 512 * mebibyte },
  gatewayConfig: { name: buckets.gatewayConfig, replicas, bytesMax: 512 * mebibyte },
  health: { name: buckets.health, replicas, bytesMax: 128 * mebibyte, ttlMs: healthTtlMs, givesUpOldest: true },
  leases: { name: buckets.leases, replicas, bytesMax: 8 * mebibyte, ttlMs: leaseTtlMs },
  positions: { name: buckets.positions, replicas, bytesMax: 128 * mebibyte },
  replays: { name: buckets.replays, replicas, bytesMax: 8 * mebibyte, ttlMs: healthTtlMs },
  tokens: { name: buckets.tokens, replicas, bytesMax: 32 * mebibyte, ttlMs: tokensTtlMs },
});

/** Opens LEASES only: for a process that must know the live processes before it changes anything. */
export function openLeases(connection: LogConnection, replicas: number): Promise<Bucket> {
  return openBucket(connection, bucketSettings(replicas).leases);
}

/** Opens every bucket and creates missing ones: for control planes, which have the right. */
export function openBuckets(connection: LogConnection, replicas: number): Promise<Buckets> {
  return openThese(connection, replicas, ['gatewayConfig', ...pipelineBuckets]);
}

const pipelineBuckets = ['config', 'health', 'leases', 'positions', 'replays', 'tokens'] as const;

/** The buckets that a pipeline uses: it may start before a control plane of this release has created the others. */
export function openPipelineBuckets(
  connection: LogConnection,
  replicas: number,
): Promise<Pick<Buckets, (typeof pipelineBuckets)[number]>> {
  return openThese(connection, replicas, pipelineBuckets);
}

/**
 * The buckets that a gateway opens at its start. It may create none, and a bucket that it does not use must not delay
 * it.
 */
export function openGatewayBuckets(
  connection: LogConnection,
  replicas: number,
): Promise<Pick<Buckets, 'config' | 'health' | 'leases'>> {
  return openThese(connection, replicas, ['config', 'health', 'leases']);
}

/** Waits for half a minute for a control plane to create the bucket. */
export function openGatewayConfig(connection: LogConnection, replicas: number): Promise<Bucket> {
  return openBucket(connection, bucketSettings(replicas).gatewayConfig);
}

async function openThese<Name extends keyof Buckets>(
  connection: LogConnection,
  replicas: number,
  names: readonly Name[],
): Promise<Pick<Buckets, Name>> {
  const settings = bucketSettings(replicas);
  const opened = await Promise.all(names.map(async (name) => [name, await openBucket(connection, settings[name])]));
  return Object.fromEntries(opened) as Pick<Buckets, Name>;
}
