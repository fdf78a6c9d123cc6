import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { controlPlaneHttpEnv } from '../../control-plane/api/http-settings.ts';
import { gatewayStatusEnv } from '../../gateway/status/status-settings.ts';
import { pipelineStatusEnv } from '../../pipeline/status/status-settings.ts';
import { readEnv } from '../../shared/runtime/env.ts';
import { sinkEnv } from '../local/sink/env.ts';

const schema = Type.Object({
  GATEWAY_METRICS_PORT: gatewayStatusEnv.GATEWAY_METRICS_PORT,
  CONTROL_PLANE_METRICS_PORT: controlPlaneHttpEnv.CONTROL_PLANE_METRICS_PORT,
  PIPELINE_METRICS_PORT: pipelineStatusEnv.PIPELINE_METRICS_PORT,
  SINK_PORT: sinkEnv.SINK_PORT,
});

export type HealthcheckEnv = Static<typeof schema>;

/** Where the service of this container answers, whichever it is. */
export function readHealthcheckEnv(source: Readonly<Record<string, string | undefined>> = process.env): HealthcheckEnv {
  return readEnv(schema, source, (path) => readFileSync(path, 'utf8'));
}
