import type { TSchema } from 'typebox';
import { Type } from 'typebox';
import { experiments } from '../../shared/collections/experiments.ts';
import { replySchema, viewEntity } from '../collections/entity-schemas.ts';
import { edit } from '../draft/edit-entities.ts';
import type { Endpoint } from '../api/define-endpoint.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import type { LifecycleAction, StepTaken } from './take-step.ts';
import { takeStep } from './take-step.ts';

const reply = replySchema(experiments, {
  takesEffect: Type.Enum(['now', 'nextVersion'], {
    description:
      'nextVersion: the status is a change of the draft, and visitors see it once a version is created and published. ' +
      'now: the live version already has this status, so there is nothing to publish.',
  }),
});

const rolloutBody = Type.Object(
  { variantId: Type.String({ minLength: 1, maxLength: 64, description: 'The variant that every visitor gets.' }) },
  { additionalProperties: false },
);

/**
 * Lifecycle steps of an experiment. Like every edit, a step changes the draft; the reply says whether the change still
 * has to be published.
 */
export const lifecycleEndpoints: readonly Endpoint[] = [
  stepEndpoint('start', 'Start an experiment: it needs a control and at least one more variant'),
  stepEndpoint('pause', 'Pause an experiment: no new assignments; visitors keep the assignments that they have'),
  stepEndpoint('resume', 'Resume a paused experiment'),
  stepEndpoint('stop', 'Complete an experiment: it no longer serves visitors, and cannot run again'),
  defineEndpoint({
    ...describeStep('rollout', 'Complete an experiment and give every visitor one of its variants'),
    body: rolloutBody,
    handle: ({ params, body, principal }, services) =>
      edit(services, principal, async (editing) =>
        view(await takeStep(editing, params.id, { kind: 'rollout', variantId: body.variantId })),
      ),
  }),
];

function stepEndpoint(kind: Exclude<LifecycleAction['kind'], 'rollout'>, summary: string): Endpoint {
  return defineEndpoint({
    ...describeStep(kind, summary),
    handle: ({ params, principal }, services) =>
      edit(services, principal, async (editing) => view(await takeStep(editing, params.id, { kind }))),
  });
}

function describeStep(kind: LifecycleAction['kind'], summary: string) {
  return {
    method: 'POST' as const,
    path: `/rest/v1/collections/experiments/{id}/${kind}` as const,
    scope: 'experiments:update',
    id: `${kind}Experiment`,
    tag: 'Experiments',
    summary,
    reply: reply as TSchema,
  };
}

function view({ row, published }: StepTaken): unknown {
  return { ...viewEntity(experiments, row), takesEffect: published ? 'now' : 'nextVersion' };
}
