import {
  experimentVariantBody,
  experimentVariantDefaults,
  experimentVariantFixed,
} from '../experiments/experiment-bodies.ts';
import type { ExperimentVariantBody } from '../experiments/experiment-bodies.ts';
import { checkVariant } from '../experiments/validate-experiment.ts';
import { defineCollection, references } from '../contracts/config/define-collection.ts';

/** What an experiment may give a visitor. */
export const experimentVariants = defineCollection({
  name: 'experimentVariants',
  allowlisted: false,
  noun: 'experiment variant',
  reading: 'exact',
  body: experimentVariantBody,
  defaults: experimentVariantDefaults,
  fixed: experimentVariantFixed,
  filters: ['experimentId'],
  references: [references('experimentId', 'experiments')],
  check: (variant) => checkVariant(variant as ExperimentVariantBody),
  describe: (variant) => {
    const { weight, isControl } = variant as ExperimentVariantBody;
    if (isControl) return { type: 'control', summary: 'what the others leave' };
    return { type: 'variant', summary: `${weight ?? 0} %` };
  },
});
