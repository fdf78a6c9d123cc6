import type { TSchema } from 'typebox';
import { Type } from 'typebox';
import { experiments } from '../../shared/collections/experiments.ts';
import { replySchema, viewEntity } from '../collections/entity-schemas.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { edit, patchEntity } from '../draft/edit-entities.ts';
import type { Endpoint } from '../api/define-endpoint.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { checkStart, checkVariants } from '../../shared/experiments/validate-experiment.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { findEntity } from '../draft/entity-store.ts';
import { refuseProblems } from '../draft/check-together.ts';
import { badRequest, notFound } from '../api/api-error.ts';
import { liveContent } from '../versions/version-store.ts';
import { loadVariants, readExperimentBody } from '../draft/experiment-rows.ts';
import type { FieldProblem } from '../../shared/contracts/config/define-collection.ts';
import type { ExperimentBody, ExperimentStatus } from '../../shared/experiments/experiment-bodies.ts';

const reply = replySchema(experiments, {
  takesEffect: Type.Enum(['now', 'nextVersion'], {
    description:
      'nextVersion: the status is a change of the draft, and visitors see it once a version is created and published. ' +
      'now: the version the account runs has this status already, so there is nothing to publish.',
  }),
});

const rolloutBody = Type.Object(
  { variantId: Type.String({ minLength: 1, maxLength: 64, description: 'The variant every visitor gets.' }) },
  { additionalProperties: false },
);

/** The steps of an experiment's life. Like every edit they change the draft; the answer says whether that is all. */
export const lifecycleEndpoints: readonly Endpoint[] = [
  stepEndpoint('start', 'Start an experiment: a control, and at least one more variant, are needed'),
  stepEndpoint('pause', 'Pause an experiment: no new assignments, and visitors keep those they have'),
  stepEndpoint('resume', 'Resume a paused experiment'),
  stepEndpoint('stop', 'Complete an experiment: nobody is in it any more, and it cannot run again'),
  defineEndpoint({
    ...describeStep('rollout', 'Complete an experiment and give every visitor one of its variants'),
    body: rolloutBody,
    handle: ({ params, body, principal }, services) =>
      edit(services, principal, async (editing) =>
        view(await takeStep(editing, params['id'] ?? '', { kind: 'rollout', variantId: body.variantId })),
      ),
  }),
];

function stepEndpoint(kind: Exclude<LifecycleAction['kind'], 'rollout'>, summary: string): Endpoint {
  return defineEndpoint({
    ...describeStep(kind, summary),
    handle: ({ params, principal }, services) =>
      edit(services, principal, async (editing) => view(await takeStep(editing, params['id'] ?? '', { kind }))),
  });
}

function describeStep(kind: LifecycleAction['kind'], summary: string) {
  return {
    method: 'POST' as const,
    path: `/rest/v1/collections/experiments/:id/${kind}`,
    scope: 'experiments:update',
    id: `${kind}Experiment`,
    tag: 'Experiments',
    summary,
    reply: reply as TSchema,
  };
}

function view({ row, published }: Awaited<ReturnType<typeof takeStep>>): unknown {
  return { ...viewEntity(experiments, row), takesEffect: published ? 'now' : 'nextVersion' };
}

type StepTaken = {
  readonly row: ConfigEntityRow;
  /** Whether the version the account runs says the same of the experiment's status. */
  readonly published: boolean;
};

/** Takes an experiment of the draft through its lifecycle. Throws a 400 for a step that its state does not allow. */
async function takeStep(editing: Editing, id: string, action: LifecycleAction): Promise<StepTaken> {
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

/** What an operator can do to an experiment, beside changing its fields. */
export type LifecycleAction =
  | { readonly kind: 'start' | 'pause' | 'resume' | 'stop' }
  /** Ends it and gives every visitor one variant. */
  | { readonly kind: 'rollout'; readonly variantId: string };

type LifecycleStep =
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
