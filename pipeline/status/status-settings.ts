import { statusEnv } from '../../shared/runtime/status/serve-status.ts';
import { port } from '../../shared/runtime/variables.ts';

/** Destinations with metrics of their own; the rest is summed up as `_other`. */
export const metricsDestinationsMax = 1_000;

export const pipelineStatusEnv = {
  ...statusEnv,
  PIPELINE_METRICS_PORT: port('Metrics and health of the pipeline', 9082),
};
