import { count, port } from '../../shared/runtime/variables.ts';

export const pipelineStatusEnv = {
  PIPELINE_METRICS_PORT: port('Metrics and health of the pipeline', 9082),
  BACKLOG_EVERY_MS: count('How often the log is looked at for backlogs', 5_000, { unit: 'ms', minimum: 100 }),
  METRICS_DESTINATIONS_MAX: count('Destinations with metrics of their own; the rest is summed up as `_other`', 1_000, {
    minimum: 0,
  }),
};
