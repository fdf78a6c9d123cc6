import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { count, port, readEnv, serviceEnv } from '../../../shared/runtime/env.ts';

const schema = Type.Object({
  SINK_PORT: port(8090),
  SINK_HOST: Type.String({ minLength: 1, default: '127.0.0.1' }),
  /** Requests kept, the newest. */
  SINK_REQUESTS_MAX: count(10_000),
  /** Bytes of kept bodies, in all; the oldest requests go first. */
  SINK_BYTES_MAX: count(256 * 1024 ** 2, 1024),
  SINK_BODY_BYTES_MAX: count(16 * 1024 ** 2, 1024),
  LOG_LEVEL: serviceEnv.LOG_LEVEL,
  SHUTDOWN_DEADLINE_MS: serviceEnv.SHUTDOWN_DEADLINE_MS,
});

export type SinkEnv = Static<typeof schema>;

export function readSinkEnv(source: Readonly<Record<string, string | undefined>> = process.env): SinkEnv {
  return readEnv(schema, source, (path) => readFileSync(path, 'utf8'));
}
