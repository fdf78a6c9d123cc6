import { experiments } from '../../shared/collections/experiments.ts';
import { takeLifecycleStep } from './lifecycle.ts';
import type { LifecycleAction } from './lifecycle.ts';
import { checkStart, checkVariants } from '../../shared/experiments/validate-experiment.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities/config-entity.ts';
import { patchEntity } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { findEntity } from '../draft/entity-store.ts';
import { refuseProblems } from '../draft/refuse-problems.ts';
import { badRequest, notFound } from '../api/api-error.ts';
import { liveContent } from '../versions/version-store.ts';
import { loadVariants, readExperimentBody } from '../draft/experiment-rows.ts';

export type StepTaken = {
  readonly row: ConfigEntityRow;
  /** Whether the version the account runs says the same of the experiment's status. */
  readonly published: boolean;
};

/** Takes an experiment of the draft through its lifecycle. Throws a 400 for a step that its state does not allow. */
export async function takeStep(editing: Editing, id: string, action: LifecycleAction): Promise<StepTaken> {
  const { em, principal } = editing;
  const { accountId } = principal;
  const found = await findEntity(em, accountId, 'experiments', id);
  if (found === undefined) throw notFound(experiments.noun);
  const experiment = readExperimentBody(found.body);
  const step = takeLifecycleStep(experiment, action);
  if (!step.allowed) throw badRequest(`${step.problem.field} ${step.problem.problem}`);
  const { status, rolloutVariantId } = step;
  const next = { ...experiment, status, rolloutVariantId };
  // To hold back or end what runs must always be possible.
  if (action.kind !== 'pause' && action.kind !== 'stop') {
    const variants = await loadVariants(em, accountId, id);
    refuseProblems(status === 'Running' ? checkStart(next, variants) : checkVariants(next, variants));
  }
  const row = await patchEntity(editing, experiments, id, {}, (body) => ({ ...body, status, rolloutVariantId }));
  const live = (await liveContent(em, accountId)).experiments.find((one) => one.id === id);
  const published = live !== undefined && live['status'] === status && live['rolloutVariantId'] === rolloutVariantId;
  return { row, published };
}
