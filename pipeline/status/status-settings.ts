import { defineSettings, fromEnv } from '../../shared/runtime/settings.ts';
import { metricsHost } from '../../shared/runtime/status/serve-status.ts';
import { port } from '../../shared/runtime/variables.ts';

export const { variables: pipelineStatusEnv, read: readPipelineStatusSettings } = defineSettings({
  host: metricsHost,
  port: fromEnv({ PIPELINE_METRICS_PORT: port('Metrics and health of the pipeline', 9082) }),
  /** Number of destinations with metrics of their own; the others are summed as `_other`. */
  destinationsMax: 1_000,
});
