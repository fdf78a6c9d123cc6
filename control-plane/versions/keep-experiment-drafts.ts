import type { Snapshot } from '../../shared/contracts/config/account-config.ts';
import type { RevertStep } from './revert.ts';

/** A step of undoing, or an experiment that was started becomes the draft it was. */
export type UndoStep = RevertStep | { readonly kind: 'unstart'; readonly id: string };

/**
 * Abandoning undoes what would be published. Of an experiment that was never published that is its start: drafting it
 * was no such change, so it stays, with its variants, and is a draft again.
 */
export function keepExperimentDrafts(steps: readonly RevertStep[], draft: Snapshot): readonly UndoStep[] {
  const started = new Set(
    steps.flatMap((step) => (step.kind === 'remove' && step.collection === 'experiments' ? [step.id] : [])),
  );
  const ofStarted = new Set(
    draft.experimentVariants.filter(({ experimentId }) => started.has(String(experimentId))).map(({ id }) => id),
  );
  return steps.flatMap((step): UndoStep[] => {
    if (step.kind !== 'remove') return [step];
    if (step.collection === 'experiments') return [{ kind: 'unstart', id: step.id }];
    return step.collection === 'experimentVariants' && ofStarted.has(step.id) ? [] : [step];
  });
}
