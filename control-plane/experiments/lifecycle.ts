import type { FieldProblem } from '../../shared/contracts/config/define-collection.ts';
import type { ExperimentBody, ExperimentStatus } from '../../shared/experiments/experiment-bodies.ts';

/** What an operator can do to an experiment, beside changing its fields. */
export type LifecycleAction =
  | { readonly kind: 'start' | 'pause' | 'resume' | 'stop' }
  /** Ends it and gives every visitor one variant. */
  | { readonly kind: 'rollout'; readonly variantId: string };

export type LifecycleStep =
  | { readonly allowed: true; readonly status: ExperimentStatus; readonly rolloutVariantId: string | null }
  | { readonly allowed: false; readonly problem: FieldProblem };

type Transition = { readonly from: readonly ExperimentStatus[]; readonly to: ExperimentStatus };

/**
 * Where an action may start and where it leads. The state it leads to is among those it may start from, so that a
 * request can be repeated. Nothing leads back to a draft, and what is completed does not run again: its visitors would
 * be compared with those of another time.
 */
const transitions: Readonly<Record<LifecycleAction['kind'], Transition>> = {
  start: { from: ['Draft', 'Running'], to: 'Running' },
  pause: { from: ['Running', 'Paused'], to: 'Paused' },
  resume: { from: ['Paused', 'Running'], to: 'Running' },
  stop: { from: ['Running', 'Paused', 'Completed'], to: 'Completed' },
  rollout: { from: ['Running', 'Paused', 'Completed'], to: 'Completed' },
};

/** What an action makes of an experiment's status and rollout. Stopping a rollout takes the variant from everybody. */
export function takeLifecycleStep({ status }: Pick<ExperimentBody, 'status'>, action: LifecycleAction): LifecycleStep {
  const { from, to } = transitions[action.kind];
  if (!from.includes(status)) {
    const problem = `must be ${from.join(' or ')} to ${action.kind} an experiment, and is ${status}`;
    return { allowed: false, problem: { field: 'status', problem } };
  }
  return { allowed: true, status: to, rolloutVariantId: action.kind === 'rollout' ? action.variantId : null };
}
