import { hostname } from 'node:os';
import { logAccess } from '../shared/nats/connection/log-access.ts';
import type { TopologySettings } from '../shared/nats/streams/topology.ts';
import { databaseAccess } from '../shared/postgres/database-access.ts';
import { readRecentSettings } from './workers/recent/recent-settings.ts';
import { resolverDefaults } from './workers/resolve/resolver-context.ts';
import type { PipelineEnv } from './env.ts';
import type { HostSettings } from './threads/host-settings.ts';
import type { RetentionSettings } from './jobs/retention/retention.ts';
import type { MembershipTimes } from './cluster/membership.ts';

/**
 * The process's name among its peers. Health windows are kept under it, so without INSTANCE_ID it is one that a
 * restarted process finds again: its machine and its port.
 */
export function instanceIdOf(env: PipelineEnv): string {
  const made = `${hostname()}-${env.PIPELINE_METRICS_PORT}`.replaceAll(/[^A-Za-z0-9_-]/g, '-');
  return env.INSTANCE_ID ?? made.slice(-64);
}

export function topologySettings(env: PipelineEnv): TopologySettings {
  return {
    partitions: env.LOG_PARTITIONS,
    replicas: env.LOG_REPLICAS,
    ingestBytesMax: env.LOG_INGEST_BYTES_MAX,
    eventsBytesMax: env.LOG_EVENTS_BYTES_MAX,
    retryBytesMax: env.LOG_RETRY_BYTES_MAX,
    deadLetterBytesMax: env.LOG_DEAD_LETTERS_BYTES_MAX,
    deduplicationBytesMax: env.LOG_DEDUPLICATION_BYTES_MAX,
  };
}

export function hostSettings(env: PipelineEnv, instanceId: string): Omit<HostSettings, 'thread'> {
  return {
    instanceId,
    logLevel: env.LOG_LEVEL,
    log: logAccess(env),
    replicas: env.LOG_REPLICAS,
    database: databaseAccess(env),
    databaseConnectionsMax: env.PIPELINE_DATABASE_CONNECTIONS_MAX,
    visitorCacheBytesMax: env.PIPELINE_VISITOR_CACHE_BYTES_MAX,
    secretsKey: env.SECRETS_KEY,
    egressRanges: env.EGRESS_ALLOW,
    resolver: {
      ...resolverDefaults,
      deduplication: {
        windowMs: env.RESOLVER_DEDUPLICATION_WINDOW_MS,
        idsMax: env.RESOLVER_DEDUPLICATION_IDS_MAX,
      },
      checkpointEveryMs: env.RESOLVER_CHECKPOINT_EVERY_MS,
      checkpointBytesMax: env.RESOLVER_CHECKPOINT_BYTES_MAX,
      framesPerTake: env.RESOLVER_FRAMES_PER_TAKE,
      takeEveryMs: env.RESOLVER_TAKE_EVERY_MS,
      ackWaitMs: env.RESOLVER_ACK_WAIT_MS,
    },
    recent: readRecentSettings(env),
    dispatcher: {
      concurrency: env.DISPATCH_CONCURRENCY,
      lingerMs: env.DISPATCH_LINGER_MS,
      eventsHeldMax: env.DISPATCH_EVENTS_HELD_MAX,
      bytesHeldMax: env.DISPATCH_BYTES_HELD_MAX,
      framesBufferedMax: env.DISPATCH_FRAMES_BUFFERED_MAX,
      framesAheadMax: env.DISPATCH_FRAMES_AHEAD_MAX,
      ackWaitMs: env.DISPATCH_ACK_WAIT_MS,
      healthFlushMs: env.DISPATCH_HEALTH_FLUSH_MS,
      retryWindowMs: env.RETRY_WINDOW_MS,
      order: {
        visitorsMax: env.DISPATCH_VISITORS_WAITING_MAX,
        eventsMax: env.DISPATCH_PARKED_EVENTS_MAX,
        bytesMax: env.DISPATCH_PARKED_BYTES_MAX,
      },
      sender: {
        connectTimeoutMs: env.DISPATCH_CONNECT_TIMEOUT_MS,
        headersTimeoutMs: env.DISPATCH_HEADERS_TIMEOUT_MS,
        totalTimeoutMs: env.DISPATCH_TOTAL_TIMEOUT_MS,
      },
    },
  };
}

export function membershipTimes(env: PipelineEnv): MembershipTimes {
  return { silentForMs: env.PIPELINE_LEASE_SILENT_MS, handOverMs: env.PIPELINE_HAND_OVER_MS };
}

export function retentionSettings(env: PipelineEnv): RetentionSettings {
  return {
    everyMs: env.RETENTION_EVERY_MS,
    historyMs: env.RETENTION_HISTORY_MS,
    marks: { high: env.RETENTION_HIGH_PERCENT / 100, low: env.RETENTION_LOW_PERCENT / 100 },
  };
}
