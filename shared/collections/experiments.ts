import type { ExperimentSettingsBody, ExperimentVariantBody } from '../experiments/experiment-bodies.ts';
import {
  experimentBody,
  experimentDefaults,
  experimentFixed,
  experimentReadOnly,
  experimentSettingsBody,
  experimentSettingsDefaults,
  experimentSettingsReadOnly,
  experimentVariantBody,
  experimentVariantDefaults,
  experimentVariantFixed,
  generateExperimentSettings,
} from '../experiments/experiment-bodies.ts';
import { defineCollection, references, textOf } from '../contracts/config/define-collection.ts';

/** Experiments: they assign variants to visitors, and a variant changes pages. */
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
  references: [
    references('rolloutVariantId', 'experimentVariants'),
    references('winnerVariantId', 'experimentVariants'),
  ],
  describe: ({ type, status }) => ({ type: textOf(type), summary: textOf(status) }),
});

/** The variants that an experiment may assign. */
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
  describe: (variant) => {
    const { weight, isControl } = variant as ExperimentVariantBody;
    if (isControl) return { type: 'control', summary: 'the remaining weight' };
    return { type: 'variant', summary: `${weight ?? 0} %` };
  },
});

/** Settings for all experiments of an account: whether they run, and which pages may request assignments. */
export const experimentSettings = defineCollection({
  name: 'experimentSettings',
  noun: 'experiment setting',
  reading: 'exact',
  single: true,
  body: experimentSettingsBody,
  defaults: experimentSettingsDefaults,
  readOnly: experimentSettingsReadOnly,
  generate: generateExperimentSettings,
  describe: (settings) => {
    const { isEnabled } = settings as ExperimentSettingsBody;
    return { type: '', summary: isEnabled ? 'enabled' : 'disabled' };
  },
});
