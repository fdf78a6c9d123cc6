import { statusEnv } from '../../shared/runtime/status/serve-status.ts';
import { count, port } from '../../shared/runtime/variables.ts';

export const pipelineStatusEnv = {
  ...statusEnv,
  PIPELINE_METRICS_PORT: port('Metrics and health of the pipeline', 9082),
  METRICS_DESTINATIONS_MAX: count('Destinations with metrics of their own; the rest is summed up as `_other`', 1_000, {
    minimum: 0,
  }),
};
