import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { DEFAULT_NATS_MEMORY_LIMIT } from '../../shared/embedded/nats/nats-server.ts';
import { topologyEnv } from '../../shared/nats/connection/log-env.ts';
import { port, readEnv, serviceEnv } from '../../shared/runtime/env.ts';

const schema = Type.Object({
  /** Everything the local stack keeps: data, logs, credentials. */
  SLUICE_DIR: Type.String({ minLength: 1, default: '.sluice' }),
  GATEWAY_PORT: port(8080),
  GATEWAY_METRICS_PORT: port(9080),
  CONTROL_PLANE_PORT: port(8081),
  CONTROL_PLANE_METRICS_PORT: port(9081),
  PIPELINE_METRICS_PORT: port(9082),
  SINK_PORT: port(8090),
  /** Preferred ports of the embedded servers; the next free one is taken when busy. */
  NATS_PORT: port(4222),
  NATS_MONITOR_PORT: port(8222),
  POSTGRES_PORT: port(5432),
  /** Bytes that the streams of the embedded nats-server may take together. Default: three quarters of the disk. */
  NATS_STORE_BYTES_MAX: Type.Optional(Type.Integer({ minimum: 1024 ** 2 })),
  /**
   * Memory that the embedded nats-server tries to stay below: Go's own variable, as `512MiB`, or `off`. No hard limit: what
   * it needs it takes, and works more for it.
   */
  GOMEMLIMIT: Type.String({ pattern: '^(off|[0-9]+(B|[KMGT]iB)?)$', default: DEFAULT_NATS_MEMORY_LIMIT }),
  /** Servers of one's own instead of the embedded ones. */
  NATS_URL: Type.Optional(Type.String({ minLength: 1 })),
  DATABASE_URL: Type.Optional(Type.String({ minLength: 1 })),
  LOG_LEVEL: serviceEnv.LOG_LEVEL,
  /** What the streams may take, which the embedded nats-server has to have room for. */
  LOG_INGEST_BYTES_MAX: topologyEnv.LOG_INGEST_BYTES_MAX,
  LOG_EVENTS_BYTES_MAX: topologyEnv.LOG_EVENTS_BYTES_MAX,
  LOG_RETRY_BYTES_MAX: topologyEnv.LOG_RETRY_BYTES_MAX,
  LOG_DEAD_LETTERS_BYTES_MAX: topologyEnv.LOG_DEAD_LETTERS_BYTES_MAX,
  LOG_DEDUPLICATION_BYTES_MAX: topologyEnv.LOG_DEDUPLICATION_BYTES_MAX,
});

export type StackEnv = Static<typeof schema>;

export function readStackEnv(): StackEnv {
  return readEnv(schema, process.env, (path) => readFileSync(path, 'utf8'));
}

/** What the services inherit: the caller's own settings, for every variable the stack does not set itself. */
export function inheritedEnv(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
