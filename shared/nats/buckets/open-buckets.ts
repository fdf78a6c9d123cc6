import { leaseTtlMs } from '../../contracts/process-report.ts';
import { openBucket } from './bucket.ts';
import type { Bucket, BucketSettings } from './bucket.ts';
import type { LogConnection } from '../connection/connection.ts';
import { buckets } from '../streams/topology.ts';

/** The buckets that services use. */
export type Buckets = {
  /** The live configuration of each account, in one entry. Written by the control plane only. */
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
export const replaysBytesMax = 8 * mebibyte;
export const tokensBytesMax = 32 * mebibyte;
// Without an expiry, entries of ended instances would stay forever; a month keeps "last seen" times useful. A full
// bucket discards its oldest entries first. Those entries belong to deleted destinations, because live destinations
// keep writing.
const healthTtlMs = 30 * dayMs;
// A refresh token that a platform issued in place of another is stored only here. It must outlive a pause of its
// destination.
const tokensTtlMs = 365 * dayMs;

/** The settings of each bucket, the same for all services. */
export const bucketSettings = (replicas: number): Readonly<Record<keyof Buckets, BucketSettings>> => ({
  config: { name: buckets.config, replicas, bytesMax: 512 * mebibyte },
  gatewayConfig: { name: buckets.gatewayConfig, replicas, bytesMax: 512 * mebibyte },
  health: { name: buckets.health, replicas, bytesMax: 128 * mebibyte, ttlMs: healthTtlMs, givesUpOldest: true },
  leases: { name: buckets.leases, replicas, bytesMax: 8 * mebibyte, ttlMs: leaseTtlMs },
  positions: { name: buckets.positions, replicas, bytesMax: 128 * mebibyte },
  replays: { name: buckets.replays, replicas, bytesMax: replaysBytesMax, ttlMs: healthTtlMs },
  tokens: { name: buckets.tokens, replicas, bytesMax: tokensBytesMax, ttlMs: tokensTtlMs },
});

/** Opens LEASES only: for a process that must know the live processes before it changes anything. */
export function openLeases(connection: LogConnection, replicas: number): Promise<Bucket> {
  return openBucket(connection, bucketSettings(replicas).leases);
}

/** Opens every bucket and creates missing ones, for control planes, which have the right to do so. */
export function openBuckets(connection: LogConnection, replicas: number): Promise<Buckets> {
  return openThese(connection, replicas, ['gatewayConfig', ...pipelineBuckets]);
}

const pipelineBuckets = ['config', 'health', 'leases', 'positions', 'replays', 'tokens'] as const;

/**
 * Opens the buckets that a pipeline uses. A pipeline may start before a control plane of this release has created the
 * other buckets.
 */
export function openPipelineBuckets(
  connection: LogConnection,
  replicas: number,
): Promise<Pick<Buckets, (typeof pipelineBuckets)[number]>> {
  return openThese(connection, replicas, pipelineBuckets);
}

/**
 * Opens the buckets that a gateway uses at its start. A gateway may create none, and must not wait for a bucket that it
 * does not use.
 */
export function openGatewayBuckets(
  connection: LogConnection,
  replicas: number,
): Promise<Pick<Buckets, 'config' | 'health' | 'leases'>> {
  return openThese(connection, replicas, ['config', 'health', 'leases']);
}

/** Opens GATEWAY_CONFIG; waits half a minute for a control plane to create it. */
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
