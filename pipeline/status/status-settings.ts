import { statusEnv } from '../../shared/runtime/status/serve-status.ts';
import { count, port } from '../../shared/runtime/variables.ts';

export const pipelineStatusEnv = {
  ...statusEnv,
  PIPELINE_METRICS_PORT: port('Metrics and health of the pipeline', 9082),
  BACKLOG_EVERY_MS: count('How often backlogs are read from the log', 5_000, { unit: 'ms', minimum: 100 }),
  WORK_TOLD_EVERY_MS: count('How often a pipeline reports to the control plane what its threads run', 4_000, {
    unit: 'ms',
    minimum: 1_000,
    maximum: 8_000,
  }),
  WORK_ACTORS_TOLD_MAX: count(
    'Actors in that report, about 100 bytes each; those that do not run come first, the rest is a number',
    1_000,
    { maximum: 8_000 },
  ),
  METRICS_DESTINATIONS_MAX: count('Destinations with metrics of their own; the rest is summed up as `_other`', 1_000, {
    minimum: 0,
  }),
};
