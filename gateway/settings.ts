import type { TopologySettings } from '../shared/nats/streams/topology.ts';
import type { RoutesOptions } from './routes/registry.ts';
import type { GatewayEnv } from './env.ts';
import type { GroupCommitSettings } from './commit/group-commit.ts';
import type { TlsFiles } from './http/tls-files.ts';

/** Room beside an event's body for its envelope and the log's own header, in bytes. */
const envelopeBytesMax = 32 * 1024;

/** The log as this process makes it where it is missing. */
export const topologySettings = (env: GatewayEnv): TopologySettings => ({
  partitions: env.LOG_PARTITIONS,
  replicas: env.LOG_REPLICAS,
  ingestBytesMax: env.LOG_INGEST_BYTES_MAX,
  eventsBytesMax: env.LOG_EVENTS_BYTES_MAX,
  retryBytesMax: env.LOG_RETRY_BYTES_MAX,
  deadLetterBytesMax: env.LOG_DEAD_LETTERS_BYTES_MAX,
  deduplicationBytesMax: env.LOG_DEDUPLICATION_BYTES_MAX,
});

/** Undefined: the gateway speaks plain HTTP. */
export function tlsFiles(env: GatewayEnv): TlsFiles | undefined {
  const { GATEWAY_TLS_CERT_FILE: certFile, GATEWAY_TLS_KEY_FILE: keyFile, GATEWAY_TLS_PASSPHRASE: passphrase } = env;
  if (certFile === undefined || keyFile === undefined) return undefined;
  return { certFile, keyFile, ...(passphrase === undefined ? {} : { passphrase }) };
}

export const commitSettings = (env: GatewayEnv, partitions: number, messageBytesMax: number): GroupCommitSettings => ({
  partitions,
  frameBytesMax: Math.min(env.FRAME_BYTES_MAX, messageBytesMax),
  frameLingerMs: env.FRAME_LINGER_MS,
  roundMs: env.FRAME_ROUND_MS,
  roundBytes: env.FRAME_ROUND_BYTES,
  framesInFlightMax: env.FRAMES_IN_FLIGHT_MAX,
  queueEventsMax: env.QUEUE_EVENTS_MAX,
  queueBytesMax: env.QUEUE_BYTES_MAX,
  deadlineMs: env.REQUEST_DEADLINE_MS,
});

/** The largest body of one event that a message of the log can carry. */
export const eventBytesMax = (env: GatewayEnv, messageBytesMax: number): number =>
  Math.min(env.TRACK_BODY_BYTES_MAX, messageBytesMax - envelopeBytesMax);

type RouteSettings = Pick<RoutesOptions, 'partitions' | 'limits' | 'bodyBytesMax' | 'batch'>;

export function routeSettings(env: GatewayEnv, partitions: number, messageBytesMax: number): RouteSettings {
  const timeWindow = { pastMsMax: env.TIME_PAST_MS_MAX, aheadMsMax: env.TIME_AHEAD_MS_MAX };
  const limits = { depthMax: env.JSON_DEPTH_MAX, keysMax: env.JSON_KEYS_MAX, timeWindow };
  const bodyBytesMax = eventBytesMax(env, messageBytesMax);
  return {
    partitions,
    limits,
    bodyBytesMax,
    batch: {
      bodyBytesMax: env.BATCH_BODY_BYTES_MAX,
      rowsMax: env.BATCH_ROWS_MAX,
      keysMax: env.BATCH_KEYS_MAX,
      contextBytesMax: env.BATCH_CONTEXT_BYTES_MAX,
      row: { ...limits, bytesMax: Math.min(env.ROW_BYTES_MAX, bodyBytesMax) },
      gzipRatioMax: env.GZIP_RATIO_MAX,
      gzipInFlightMax: env.GZIP_IN_FLIGHT_MAX,
    },
  };
}
