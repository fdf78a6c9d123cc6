import { controlPlaneHttpEnv } from '../../control-plane/api/http-settings.ts';
import { gatewayStatusEnv } from '../../gateway/status/status-settings.ts';
import { pipelineStatusEnv } from '../../pipeline/status/status-settings.ts';
import { defineEnv } from '../../shared/runtime/env.ts';
import { sinkEnv } from '../local/sink/env.ts';

/** The variables that set the metrics port of each service; the container may run any of them. */
export const { read: readHealthcheckEnv } = defineEnv({
  GATEWAY_METRICS_PORT: gatewayStatusEnv.GATEWAY_METRICS_PORT,
  CONTROL_PLANE_METRICS_PORT: controlPlaneHttpEnv.CONTROL_PLANE_METRICS_PORT,
  PIPELINE_METRICS_PORT: pipelineStatusEnv.PIPELINE_METRICS_PORT,
  SINK_PORT: sinkEnv.SINK_PORT,
});

export type HealthcheckEnv = ReturnType<typeof readHealthcheckEnv>;
