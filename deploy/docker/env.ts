import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { port, readEnv } from '../../shared/runtime/env.ts';

const schema = Type.Object({
  GATEWAY_METRICS_PORT: port(9080),
  CONTROL_PLANE_METRICS_PORT: port(9081),
  PIPELINE_METRICS_PORT: port(9082),
  SINK_PORT: port(8090),
});

export type HealthcheckEnv = Static<typeof schema>;

/** Where the service of this container answers, whichever it is. */
export function readHealthcheckEnv(source: Readonly<Record<string, string | undefined>> = process.env): HealthcheckEnv {
  return readEnv(schema, source, (path) => readFileSync(path, 'utf8'));
}
