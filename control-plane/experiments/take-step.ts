import { experiments } from '../../shared/collections/experiments.ts';
import type { FieldProblem } from '../../shared/contracts/config/define-collection.ts';
import type { ExperimentBody, ExperimentStatus } from '../../shared/experiments/experiment-bodies.ts';
import { checkStart, checkVariants } from '../../shared/experiments/validate-experiment.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { badRequest } from '../api/api-error.ts';
import { refuseProblems } from '../draft/check-together.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { patchEntity } from '../draft/edit-entities.ts';
import { requireEntity } from '../draft/entity-store.ts';
import { loadVariants, readExperimentBody } from '../draft/experiment-rows.ts';
import { liveContent } from '../versions/version-store.ts';

/** Moves an experiment of the draft through its lifecycle. Throws a 400 for a step that its status does not allow. */
export async function takeStep(editing: Editing, id: string, action: LifecycleAction): Promise<StepTaken> {
  const { em, principal, now } = editing;
  const { accountId } = principal;
  const experiment = readExperimentBody((await requireEntity(em, accountId, 'experiments', id)).body);
  const step = takeLifecycleStep(experiment, action);
  if (!step.allowed) throw badRequest(`${step.problem.field} ${step.problem.problem}`);
  const { status, rolloutVariantId } = step;
  const next = { ...experiment, status, rolloutVariantId };
  // A running experiment can always be paused or completed, even if it is no longer valid.
  if (action.kind !== 'pause' && action.kind !== 'stop') {
    const variants = await loadVariants(em, accountId, id);
    refuseProblems(status === 'Running' ? checkStart(next, variants) : checkVariants(next, variants));
  }
  const times = timesOf(experiment, status, now.toISOString());
  const row = await patchEntity(editing, experiments, id, {}, (body) => ({
    ...body,
    status,
    rolloutVariantId,
    ...times,
  }));
  const live = (await liveContent(em, accountId, 'experiments')).experiments.find((one) => one.id === id);
  const published = live !== undefined && live['status'] === status && live['rolloutVariantId'] === rolloutVariantId;
  return { row, published };
}

/** An experiment after a step of its lifecycle. */
export type StepTaken = {
  readonly row: ConfigEntityRow;
  /** Whether the experiment has the same status and rollout in the live version. */
  readonly published: boolean;
};

/** Start and completion times; a pause changes neither. */
function timesOf({ startedAt, stoppedAt }: ExperimentBody, next: ExperimentStatus, now: string) {
  return {
    startedAt: next === 'Running' ? (startedAt ?? now) : startedAt,
    stoppedAt: next === 'Completed' ? (stoppedAt ?? now) : stoppedAt,
  };
}

/** Actions of an operator on an experiment, besides changing its fields. */
export type LifecycleAction =
  | { readonly kind: 'start' | 'pause' | 'resume' | 'stop' }
  /** Completes the experiment and gives every visitor one variant. */
  | { readonly kind: 'rollout'; readonly variantId: string };

type LifecycleStep =
  | { readonly allowed: true; readonly status: ExperimentStatus; readonly rolloutVariantId: string | null }
  | { readonly allowed: false; readonly problem: FieldProblem };

type Transition = { readonly from: readonly ExperimentStatus[]; readonly to: ExperimentStatus };

/**
 * The statuses in which an action is allowed, and the status that it sets. The action is also allowed in the status
 * that it sets, so that a request can be repeated. No action sets the status Draft. A completed experiment never runs
 * again: its visitors would be compared with visitors of another period.
 */
const transitions: Readonly<Record<LifecycleAction['kind'], Transition>> = {
  start: { from: ['Draft', 'Running'], to: 'Running' },
  pause: { from: ['Running', 'Paused'], to: 'Paused' },
  resume: { from: ['Paused', 'Running'], to: 'Running' },
  stop: { from: ['Running', 'Paused', 'Completed'], to: 'Completed' },
  rollout: { from: ['Running', 'Paused', 'Completed'], to: 'Completed' },
};

/** Status and rollout of an experiment after an action. Stopping a rollout removes the variant from all visitors. */
export function takeLifecycleStep({ status }: Pick<ExperimentBody, 'status'>, action: LifecycleAction): LifecycleStep {
  const { from, to } = transitions[action.kind];
  if (!from.includes(status)) {
    const problem = `must be ${from.join(' or ')} to ${action.kind} an experiment, but is ${status}`;
    return { allowed: false, problem: { field: 'status', problem } };
  }
  return { allowed: true, status: to, rolloutVariantId: action.kind === 'rollout' ? action.variantId : null };
}
