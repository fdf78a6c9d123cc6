import type { EntityManager } from '@mikro-orm/postgresql';
import { Type } from 'typebox';
import { experimentVariants, experiments } from '../../shared/collections/experiments.ts';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { experimentBody, experimentKeyPattern, experimentTypes } from '../../shared/experiments/experiment-bodies.ts';
import type { ExperimentVariant } from '../../shared/experiments/experiment-bodies.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { badRequest, conflict } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { changeSchema, changedFields } from '../api/returned-fields.ts';
import { createEntity, deleteEntity, edit, patchEntity } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { entityPosition, findEntity, loadEntities, requireEntity } from '../draft/entity-store.ts';
import { loadVariants, readExperimentBody, readVariantBody } from '../draft/experiment-rows.ts';
import { foldText, randomText, slugOf } from '../store/text.ts';
import { experimentFields, givenExperimentFields } from './experiment-fields.ts';
import { experimentReply, libraryStatus, statusOf, viewExperiment } from './experiment-view.ts';
import { pageInMemory } from '../api/page-in-memory.ts';

const id = Type.String({ minLength: 1, maxLength: 64 });
const { name, type } = experimentBody.properties;
const tag = 'Experiments';

const changeFields = {
  ...experimentFields,
  name: Type.Optional(nullable(name)),
  key: Type.Optional(nullable(Type.String({ maxLength: 100 }))),
};

export const experimentEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/experiments',
    scope: 'experiments:list',
    id: 'libraryListExperiments',
    tag,
    summary: 'List experiments with their variants, newest first',
    query: Type.Object({
      ...pageQuery,
      status: Type.Optional(libraryStatus),
      type: Type.Optional(type),
      search: Type.Optional(
        Type.String({ maxLength: 250, description: 'Text that the id, name or description contains.' }),
      ),
    }),
    reply: pageOf(experimentReply),
    async handle({ query, principal }, { storage, paginator }) {
      const { accountId } = principal;
      const { status, type: wanted, search } = query;
      const em = storage.fork();
      const variants = (await loadEntities(em, accountId, 'experimentVariants')).map((row) => ({
        ...readVariantBody(row.body),
        id: row.id,
      }));
      const rows = (await loadEntities(em, accountId, 'experiments')).filter((row) => {
        const body = readExperimentBody(row.body);
        const text = foldText(`${row.id}\n${body.name}\n${body.description ?? ''}`);
        return (
          (status === undefined || body.status === statusOf(status)) &&
          (wanted === undefined || body.type === wanted) &&
          (search === undefined || text.includes(foldText(search)))
        );
      });
      return pageInMemory(
        paginator,
        query,
        { list: 'library-experiments', accountId, filters: { status, type: wanted, search } },
        {
          rows,
          order: { position: entityPosition, direction: 'descending' },
          view: (row) => viewExperiment(row, inOrder(variants.filter(({ experimentId }) => experimentId === row.id))),
        },
      );
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/experiments',
    scope: 'experiments:create',
    id: 'libraryCreateExperiment',
    tag,
    summary: 'Add an experiment to the draft, with a control',
    body: Type.Object(
      {
        ...experimentFields,
        experimentSettingsId: id,
        key: Type.Optional(
          nullable(Type.String({ maxLength: 100, description: 'Defaults to a key made from the name.' })),
        ),
        name,
        type: Type.Optional(nullable(Type.Enum([...experimentTypes]))),
        controlWeight: Type.Optional(
          nullable(
            Type.Integer({
              minimum: 1,
              maximum: 100,
              description: 'Accepted and not stored: the control gets the percentage that the other variants leave.',
            }),
          ),
        ),
      },
      { additionalProperties: false },
    ),
    reply: experimentReply,
    handle: ({ body, principal }, services) =>
      edit(services, principal, async (editing) => {
        const { experimentSettingsId, key: asked, type: kind } = body;
        const settings = await findEntity(editing.em, principal.accountId, 'experimentSettings', experimentSettingsId);
        if (settings === undefined) {
          throw badRequest(`experimentSettingsId: the account has no experiment settings ${experimentSettingsId}`);
        }
        const row = await createEntity(editing, experiments, {
          ...givenExperimentFields(body),
          key:
            asked === undefined || asked === null || asked === '' ? await freeKey(editing, body.name) : checkKey(asked),
          type: kind ?? 'ab',
        });
        await createEntity(editing, experimentVariants, { experimentId: row.id, name: 'Control', isControl: true });
        return showExperiment(editing.em, row);
      }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/experiments/{id}',
    scope: 'experiments:find',
    id: 'libraryGetExperiment',
    tag,
    summary: 'Read an experiment with its variants',
    reply: experimentReply,
    async handle({ params, principal }, { storage }) {
      const em = storage.fork();
      const row = await requireEntity(em, principal.accountId, 'experiments', params.id);
      return showExperiment(em, row);
    },
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/experiments/{id}',
    scope: 'experiments:update',
    id: 'libraryUpdateExperiment',
    tag,
    summary: 'Change fields of an experiment that is not completed; the key cannot change',
    body: changeSchema(changeFields, experimentReply),
    reply: experimentReply,
    handle: ({ params, body, principal }, services) =>
      edit(services, principal, async (editing) => {
        const before = await requireEntity(editing.em, principal.accountId, 'experiments', params.id);
        const shown = await showExperiment(editing.em, before);
        const changed = changedFields(changeFields, body, shown);
        if (Object.keys(changed).length === 0) return shown;
        const { status, key: stored } = readExperimentBody(before.body);
        if (status === 'Completed') throw conflict('a completed experiment can no longer be edited');
        if (typeof changed.key === 'string' && changed.key !== '') {
          throw badRequest(`key cannot change after creation; the key is ${stored}`);
        }
        const row = await patchEntity(editing, experiments, params.id, givenExperimentFields(changed));
        return showExperiment(editing.em, row);
      }),
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/experiments/{id}',
    scope: 'experiments:delete',
    id: 'libraryDeleteExperiment',
    tag,
    summary: 'Remove an experiment and its variants from the draft',
    reply: Type.Boolean(),
    async handle({ params, principal }, services) {
      await edit(services, principal, async (editing) => {
        const experimentId = params.id;
        const variants = await loadVariants(editing.em, principal.accountId, experimentId);
        await deleteEntity(editing, experiments, experimentId);
        await editing.em.flush();
        for (const variant of variants) await deleteEntity(editing, experimentVariants, variant.id);
      });
      return true;
    },
  }),
];

/** An experiment of the draft, in the platform library's shape. */
export async function showExperiment(em: EntityManager, row: ConfigEntityRow) {
  return viewExperiment(row, inOrder(await loadVariants(em, row.accountId, row.id)));
}

/** Puts the control first, then the others in the order of their creation, which is the order of ids. */
function inOrder(variants: readonly ExperimentVariant[]): readonly ExperimentVariant[] {
  return variants.toSorted((a, b) => Number(b.isControl) - Number(a.isControl) || (a.id < b.id ? -1 : 1));
}

const keyShape = new RegExp(experimentKeyPattern);

function checkKey(text: string): string {
  if (!keyShape.test(text)) throw badRequest('key must be 1 to 100 letters, digits, - and _');
  return text;
}

/** A key made from the experiment's name; no other experiment of the account has this key. */
async function freeKey({ em, principal }: Editing, text: string): Promise<string> {
  const base = slugOf(text) || 'experiment';
  const taken = new Set((await loadEntities(em, principal.accountId, 'experiments')).map((row) => row.body['key']));
  return taken.has(base) ? `${base}-${randomText(8).toLowerCase()}` : base;
}
