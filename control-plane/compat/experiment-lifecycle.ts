import { Type } from 'typebox';
import type { Static, TObject, TProperties } from 'typebox';
import { experiments } from '../../shared/collections/experiments.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { badRequest, conflict } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import type { CoreServices, Endpoint } from '../api/define-endpoint.ts';
import type { ServiceValues } from '../api/services.ts';
import { edit, patchEntity } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { loadDraft, requireEntity } from '../draft/entity-store.ts';
import { loadVariants, readExperimentBody } from '../draft/experiment-rows.ts';
import type { LifecycleAction } from '../experiments/take-step.ts';
import { takeStep } from '../experiments/take-step.ts';
import { publishing } from '../publishing/publishing-service.ts';
import { composeSnapshot } from '../versions/create-version.ts';
import { diffSnapshots } from '../versions/diff.ts';
import { backlogs, force, leaveBacklogsOfDraft, recordLeft } from '../versions/leave-backlogs.ts';
import type { LeftBacklogs } from '../versions/leave-backlogs.ts';
import { publishDraft } from '../versions/publish-draft.ts';
import { liveContent } from '../versions/version-store.ts';
import { experimentReply } from './experiment-view.ts';
import { showExperiment } from './experiments.ts';

const variantId = Type.String({ minLength: 1, maxLength: 64 });

const reply = Type.Object({
  publishStatus: Type.Enum(['published', 'pending_publish']),
  concurrentVersionChanges: Type.Integer({
    minimum: 0,
    description: 'Unpublished changes of the draft at the time of the step, this one included.',
  }),
  experiment: experimentReply,
});

const published =
  'is published at once with all other changes of the draft, unless the body disables publishing. No other scope is needed to publish';

const uses = { publishing, ...backlogs };

/**
 * Lifecycle steps of an experiment. Each step also publishes its change, because the library has no separate operation
 * for publishing it.
 */
export const experimentLifecycleEndpoints: readonly Endpoint[] = [
  stepEndpoint('start', 'publishAfterStart', 'experiment:start', `Start an experiment; the change ${published}`),
  stepEndpoint('pause', 'publishAfterPause', 'experiment:stop', `Pause an experiment; the change ${published}`),
  stepEndpoint(
    'resume',
    'publishAfterResume',
    'experiment:start',
    `Resume a paused experiment; the change ${published}`,
  ),
  lifecycleEndpoint({
    kind: 'stop',
    scope: 'experiment:stop',
    summary:
      'Complete an experiment and publish the change. A winner is shown in reports; a rollout variant goes to every visitor',
    fields: { winnerVariantId: Type.Optional(variantId), rolloutVariantId: Type.Optional(variantId) },
    async take(editing, id, { winnerVariantId, rolloutVariantId }) {
      const action: LifecycleAction =
        rolloutVariantId === undefined ? { kind: 'stop' } : { kind: 'rollout', variantId: rolloutVariantId };
      if (rolloutVariantId !== undefined) await refuseControl(editing, id, rolloutVariantId);
      await takeStep(editing, id, action);
      if (winnerVariantId !== undefined) await declareWinner(editing, id, winnerVariantId);
    },
  }),
  lifecycleEndpoint({
    kind: 'rollout',
    scope: 'experiment:stop',
    summary:
      'Give every visitor one variant of a completed experiment and publish the change; 409 for any other experiment',
    fields: { variantId },
    async take(editing, id, { variantId: chosen }) {
      await requireCompleted(editing, id);
      await refuseControl(editing, id, chosen);
      await takeStep(editing, id, { kind: 'rollout', variantId: chosen });
    },
  }),
  lifecycleEndpoint({
    kind: 'end-rollout',
    scope: 'experiment:stop',
    summary: 'End the rollout of a variant and publish the change; 409 if no variant is rolled out',
    fields: {},
    async take(editing, id) {
      const { rolloutVariantId } = await requireCompleted(editing, id);
      if (rolloutVariantId === null) throw conflict('the experiment has no variant rolled out');
      await takeStep(editing, id, { kind: 'stop' });
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/experiments/{id}/winner',
    scope: 'experiment:stop',
    id: 'libraryDeclareExperimentWinner',
    tag: 'Experiments',
    summary:
      'Record which variant of a completed experiment won, or that none won. Nothing changes for visitors, and the change is not ' +
      'published by itself',
    body: Type.Object({ winnerVariantId: Type.Optional(variantId) }, { additionalProperties: false }),
    bodyOptional: true,
    reply: experimentReply,
    handle: ({ params, body, principal }, services) =>
      edit(services, principal, async (editing) => {
        const { id } = params;
        await requireCompleted(editing, id);
        return showExperiment(editing.em, await declareWinner(editing, id, body.winnerVariantId ?? null));
      }),
  }),
];

type Lifecycle<Fields extends TProperties> = {
  readonly kind: string;
  readonly scope: 'experiment:start' | 'experiment:stop';
  readonly summary: string;
  readonly fields: Fields;
  /** The field of the body with which the step is not published, if it is false. */
  readonly option?: string;
  /** Changes the draft. */
  take(editing: Editing, id: string, body: Static<ReturnType<typeof Type.Object<Fields>>>): Promise<void>;
};

function stepEndpoint(
  kind: 'start' | 'pause' | 'resume',
  option: string,
  scope: Lifecycle<TProperties>['scope'],
  summary: string,
): Endpoint {
  return lifecycleEndpoint({
    kind,
    scope,
    summary,
    option,
    fields: { [option]: Type.Optional(Type.Boolean({ default: true })) },
    async take(editing, id) {
      await takeStep(editing, id, { kind });
    },
  });
}

function lifecycleEndpoint<Fields extends TProperties>({
  kind,
  scope,
  summary,
  fields,
  option,
  take,
}: Lifecycle<Fields>): Endpoint {
  const body: TObject = Type.Object({ ...fields, force }, { additionalProperties: false });
  const words = kind.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return defineEndpoint({
    method: 'POST',
    path: `/rest/v1/experiments/{id}/${kind}`,
    scope,
    id: `library${words.join('')}Experiment`,
    uses,
    isCostly: true,
    tag: 'Experiments',
    summary,
    body,
    bodyOptional: !Object.keys(fields).some((field) => body.required?.includes(field)),
    reply,
    async handle({ params, body: given, principal }, services) {
      const { id } = params;
      const asked = given as Readonly<Record<string, unknown>>;
      const toPublish = option === undefined || asked[option] !== false;
      const isForced = asked['force'] === true;
      const checked = toPublish ? await leaveBacklogsOfDraft(services, principal.accountId, isForced, {}) : undefined;
      const { outboxId, ...answer } = await edit(services, principal, async (editing) => {
        await take(editing, id, given as Parameters<typeof take>[2]);
        return settle(editing, id, checked, services);
      });
      if (outboxId !== undefined) await services.publishing.whenApplied(outboxId);
      return answer;
    },
  });
}

/** Publishes the change of a step, if `checked` is given and the change is not published yet. Returns the experiment. */
async function settle(
  editing: Editing,
  id: string,
  checked: LeftBacklogs | undefined,
  { secretBox, publishing }: CoreServices & ServiceValues<typeof uses>,
) {
  const { em, principal } = editing;
  await em.flush();
  const changes = await countChanges(editing);
  const limits = { secretBox, documentBytesMax: publishing.documentBytesMax() };
  let outboxId: number | undefined;
  if (checked !== undefined && changes > 0) {
    await checked.confirm(em);
    const published = await publishDraft(editing, {}, limits);
    outboxId = published.outboxId;
    recordLeft(editing, published.version.id, checked.left);
  }
  const row = await requireEntity(em, principal.accountId, 'experiments', id);
  return {
    outboxId,
    publishStatus: checked !== undefined || changes === 0 ? 'published' : 'pending_publish',
    concurrentVersionChanges: changes,
    experiment: await showExperiment(em, row),
  };
}

/** Number of changes that a publish of the draft would make. */
async function countChanges({ em, principal }: Editing): Promise<number> {
  const live = await liveContent(em, principal.accountId);
  return diffSnapshots(live, composeSnapshot(live, await loadDraft(em, principal.accountId), {})).count;
}

async function requireCompleted({ em, principal }: Editing, id: string) {
  const row = await requireEntity(em, principal.accountId, 'experiments', id);
  const body = readExperimentBody(row.body);
  if (body.status !== 'Completed')
    throw conflict(`the experiment must be completed, but is ${body.status.toLowerCase()}`);
  return body;
}

async function refuseControl({ em, principal }: Editing, id: string, chosen: string): Promise<void> {
  const variants = await loadVariants(em, principal.accountId, id);
  if (variants.some((variant) => variant.id === chosen && variant.isControl)) {
    throw conflict('the control cannot be rolled out: end the rollout instead, then every visitor gets the control');
  }
}

async function declareWinner(editing: Editing, id: string, winnerVariantId: string | null): Promise<ConfigEntityRow> {
  const variants = await loadVariants(editing.em, editing.principal.accountId, id);
  if (winnerVariantId !== null && !variants.some((variant) => variant.id === winnerVariantId)) {
    throw badRequest('winnerVariantId must be a variant of the experiment');
  }
  return patchEntity(editing, experiments, id, {}, (body) => ({ ...body, winnerVariantId }));
}
