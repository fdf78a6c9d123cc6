import type { EntityManager } from '@mikro-orm/postgresql';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { experimentVariants } from '../../shared/collections/experiments.ts';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { experimentVariantBody } from '../../shared/experiments/experiment-bodies.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { badRequest, conflict } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { changeSchema, changedFields } from '../api/returned-fields.ts';
import { createEntity, deleteEntity, edit, patchEntity } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { entityPosition, listEntities, requireEntity } from '../draft/entity-store.ts';
import { loadVariants, readVariantBody } from '../draft/experiment-rows.ts';
import { variantReply, viewVariant } from './experiment-view.ts';

const { experimentId, name, redirect } = experimentVariantBody.properties;
const tag = 'Experiment variants';

const fields = {
  variantType: Type.Optional(
    nullable(
      Type.Enum(['redirect', 'dom_modifications'], {
        description: 'redirect needs redirectUrl. dom_modifications has no redirectUrl.',
      }),
    ),
  ),
  redirectUrl: Type.Optional(redirect),
  domModifications: Type.Optional(
    nullable(
      Type.Array(Type.Unknown(), { description: 'Changing pages is not part of Sluice: refused unless empty.' }),
    ),
  ),
  isControl: Type.Optional(nullable(Type.Boolean({ description: '409 if another variant is the control.' }))),
};

const weight = Type.Integer({
  minimum: 0,
  maximum: 100,
  description: 'Percent. The control gets the percentage that the other variants leave.',
});

const changeFields = { ...fields, name: Type.Optional(nullable(name)), weight: Type.Optional(nullable(weight)) };
const changes = Type.Partial(Type.Object(changeFields));

export const experimentVariantEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/experiment-variants',
    scope: 'experimentVariants:list',
    id: 'libraryListExperimentVariants',
    tag,
    summary: 'List the variants of an experiment, newest first',
    query: Type.Object({ ...pageQuery, experimentId }),
    reply: pageOf(variantReply),
    async handle({ query, principal }, { storage, paginator }) {
      const { accountId } = principal;
      const equals = { experimentId: query.experimentId };
      const list = { list: 'library-variants', accountId, filters: equals };
      const { limit, after } = paginator.read(query, list);
      const em = storage.fork();
      const page = { limit: limit + 1, after };
      const rows = await listEntities(em, accountId, 'experimentVariants', { equals }, page);
      const all = await loadVariants(em, accountId, query.experimentId);
      return paginator.page(list, limit, rows, entityPosition, (row) => viewVariant(variantOf(row), all));
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/experiment-variants',
    scope: 'experimentVariants:create',
    id: 'libraryCreateExperimentVariant',
    tag,
    summary: 'Add a variant to an experiment of the draft',
    body: Type.Object({ ...fields, experimentId, name, weight }, { additionalProperties: false }),
    reply: variantReply,
    handle: ({ body, principal }, services) =>
      edit(services, principal, async (editing) => {
        const { isControl, experimentId: owner } = body;
        if (isControl === true) await refuseSecondControl(editing, owner, undefined);
        const row = await createEntity(editing, experimentVariants, {
          ...givenFields(body),
          experimentId: owner,
          ...(isControl === true ? { weight: null } : {}),
        });
        return showVariant(editing.em, row);
      }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/experiment-variants/{id}',
    scope: 'experimentVariants:find',
    id: 'libraryGetExperimentVariant',
    tag,
    summary: 'Read a variant',
    reply: variantReply,
    async handle({ params, principal }, { storage }) {
      const em = storage.fork();
      const row = await requireEntity(em, principal.accountId, 'experimentVariants', params.id);
      return showVariant(em, row);
    },
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/experiment-variants/{id}',
    scope: 'experimentVariants:update',
    id: 'libraryUpdateExperimentVariant',
    tag,
    summary: 'Change fields of a variant',
    body: changeSchema(changeFields, variantReply),
    reply: variantReply,
    handle: ({ params, body, principal }, services) =>
      edit(services, principal, async (editing) => {
        const { id } = params;
        const before = await requireEntity(editing.em, principal.accountId, 'experimentVariants', id);
        const { experimentId: owner, isControl } = readVariantBody(before.body);
        const changed = changedFields(changeFields, body, await showVariant(editing.em, before));
        if (changed.isControl === true) await refuseSecondControl(editing, owner, id);
        const isControlThen = changed.isControl ?? isControl;
        if (isControlThen && typeof changed.weight === 'number') {
          throw badRequest('weight: the control gets the percentage that the other variants leave');
        }
        const row = await patchEntity(editing, experimentVariants, id, {
          ...givenFields(changed),
          ...(isControlThen ? { weight: null } : {}),
        });
        return showVariant(editing.em, row);
      }),
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/experiment-variants/{id}',
    scope: 'experimentVariants:delete',
    id: 'libraryDeleteExperimentVariant',
    tag,
    summary: 'Remove a variant from the draft and return it',
    reply: variantReply,
    handle: ({ params, principal }, services) =>
      edit(services, principal, async (editing) => {
        const { id } = params;
        const row = await requireEntity(editing.em, principal.accountId, 'experimentVariants', id);
        const view = await showVariant(editing.em, row);
        await deleteEntity(editing, experimentVariants, id);
        return view;
      }),
  }),
];

/**
 * Translates the fields that the library sends. Throws a 400 for fields that are not part of Sluice, or that contradict
 * each other.
 */
function givenFields({
  variantType,
  domModifications,
  redirectUrl,
  name: text,
  weight: percent,
  isControl,
}: Static<typeof changes>): JsonObject {
  if (domModifications !== undefined && domModifications !== null && domModifications.length > 0) {
    throw badRequest(
      'domModifications is not part of Sluice',
      'a variant either redirects or has properties that the page reads',
    );
  }
  // In a change, the type is given only if the variant has no redirect yet.
  if (variantType === 'redirect' && (redirectUrl ?? null) === null) {
    throw badRequest('redirectUrl is required for a redirect');
  }
  if (variantType === 'dom_modifications' && typeof redirectUrl === 'string') {
    throw badRequest('redirectUrl is only for the variantType redirect');
  }
  return {
    ...(text === undefined || text === null ? {} : { name: text }),
    ...(percent === undefined || percent === null ? {} : { weight: percent }),
    ...(isControl === undefined || isControl === null ? {} : { isControl }),
    ...(redirectUrl === undefined ? {} : { redirect: redirectUrl }),
    ...(variantType === 'dom_modifications' ? { redirect: null } : {}),
  };
}

async function refuseSecondControl({ em, principal }: Editing, owner: string, id: string | undefined): Promise<void> {
  const others = (await loadVariants(em, principal.accountId, owner)).filter((variant) => variant.id !== id);
  if (others.some(({ isControl }) => isControl)) throw conflict('isControl: the experiment already has a control');
}

function variantOf(row: ConfigEntityRow) {
  return { ...readVariantBody(row.body), id: row.id };
}

async function showVariant(em: EntityManager, row: ConfigEntityRow) {
  const variant = variantOf(row);
  return viewVariant(variant, await loadVariants(em, row.accountId, variant.experimentId));
}
