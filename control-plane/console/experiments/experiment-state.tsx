import type { ReactElement } from 'react';
import { State } from '../design/feedback.tsx';
import type { Tone } from '../design/feedback.tsx';
import type { Experiment, ExperimentStatus } from './experiment.ts';

const words: Readonly<Record<ExperimentStatus, readonly [Tone, string]>> = {
  Draft: ['off', 'Draft'],
  Running: ['good', 'Running'],
  Paused: ['warn', 'Paused'],
  Completed: ['off', 'Ended'],
};

/** The status of an experiment in the draft. */
export function ExperimentState({ experiment }: { readonly experiment: Experiment }): ReactElement {
  const [tone, word] = words[experiment.status];
  return <State tone={tone}>{experiment.rolloutVariantId === null ? word : 'Ended: one variant for everyone'}</State>;
}
