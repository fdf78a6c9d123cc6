import {
  experimentSettingsBody,
  experimentSettingsDefaults,
  experimentSettingsReadOnly,
  generateExperimentSettings,
} from '../experiments/experiment-bodies.ts';
import type { ExperimentSettingsBody } from '../experiments/experiment-bodies.ts';
import { checkExperimentSettings } from '../experiments/validate-experiment.ts';
import { defineCollection } from '../contracts/config/define-collection.ts';

/** How the account runs its experiments. */
export const experimentSettings = defineCollection({
  name: 'experimentSettings',
  noun: 'experiment setting',
  reading: 'exact',
  single: true,
  body: experimentSettingsBody,
  defaults: experimentSettingsDefaults,
  readOnly: experimentSettingsReadOnly,
  generate: generateExperimentSettings,
  check: (settings) => checkExperimentSettings(settings as ExperimentSettingsBody),
  describe: (settings) => {
    const { isEnabled } = settings as ExperimentSettingsBody;
    return { type: '', summary: isEnabled ? 'enabled' : 'disabled' };
  },
});
