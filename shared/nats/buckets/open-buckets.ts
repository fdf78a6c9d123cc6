import { leaseTtlMs } from '../../contracts/process-report.ts';
import { openBucket } from './bucket.ts';
import type { Bucket, BucketSettings } from './bucket.ts';
import type { LogConnection } from '../connection/connection.ts';
import { buckets } from '../streams/topology.ts';

/** The buckets every service knows. */
export type Buckets = {
  /** Each account's live configuration, one entry an account. Written by the control plane only. */
  readonly config: Bucket;
  /** The part of it that gateways run, signed for them. Written by the control plane only. */
  readonly gatewayConfig: Bucket;
  /** What gateways and pipelines report of sources and destinations. */
  readonly health: Bucket;
  /** The processes alive now. */
  readonly leases: Bucket;
  /** Where each destination stands in its account's log, one entry a destination. Refuses when full, and never forgets. */
  readonly positions: Bucket;
  /** Replays asked for, and how far they are. */
  readonly replays: Bucket;
  /** Access tokens that platforms gave out, sealed. */
  readonly tokens: Bucket;
};

const mebibyte = 1024 ** 2;
const dayMs = 86_400_000;
// Entries of instances that are gone would stay for ever; a month keeps "last seen" times useful. Those of destinations that
// are gone go first where there is no more room: who lives writes.
const healthTtlMs = 30 * dayMs;
// A refresh token that a platform replaced stands nowhere else: it outlives a destination that is paused for a while.
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

/** Opens the one that names the processes alive: for a process that has to know before it changes anything. */
export function openLeases(connection: LogConnection, replicas: number): Promise<Bucket> {
  return openBucket(connection, bucketSettings(replicas).leases);
}

/** Opens every bucket and creates missing ones. For control planes, which may create all of them. */
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

/** The buckets that a gateway opens at its start. It may create none: one that it does not use must not delay it. */
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
