import {
  experimentBody,
  experimentDefaults,
  experimentFixed,
  experimentReadOnly,
} from '../experiments/experiment-bodies.ts';
import type { ExperimentBody } from '../experiments/experiment-bodies.ts';
import { checkExperiment } from '../experiments/validate-experiment.ts';
import { defineCollection, references, textOf } from '../contracts/config/define-collection.ts';

/** What visitors are compared by, and what a page shows to whom. */
export const experiments = defineCollection({
  name: 'experiments',
  allowlisted: false,
  noun: 'experiment',
  reading: 'exact',
  uniqueFields: ['key'],
  body: experimentBody,
  defaults: experimentDefaults,
  fixed: experimentFixed,
  readOnly: experimentReadOnly,
  filters: ['status', 'type', 'key'],
  references: [references('rolloutVariantId', 'experimentVariants')],
  check: (experiment) => checkExperiment(experiment as ExperimentBody),
  describe: ({ type, status }) => ({ type: textOf(type), summary: textOf(status) }),
});
