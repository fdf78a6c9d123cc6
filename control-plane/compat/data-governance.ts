import { Type } from 'typebox';
import type { Static } from 'typebox';
import { descriptionField, nameField, nullable } from '../../shared/contracts/config/define-collection.ts';
import { globalDispatchCenters } from '../../shared/collections/global-dispatch-centers.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { changeSchema, changedFields } from '../api/returned-fields.ts';
import { entityFields } from '../collections/entity-schemas.ts';
import { createEntity, deleteEntity, edit, patchEntity } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { entityPosition, listEntities, requireEntity } from '../draft/entity-store.ts';
import { anyLogic, givenLogic, logicField } from './given-logic.ts';
import { knownIds } from './known-ids.ts';

const kind = 'dataGovernance';
const nameByDefault = 'Data Governance';

/** The account's global dispatch center, in the platform library's shape. */
const reply = Type.Object({
  ...entityFields,
  name: nullable(Type.String()),
  kind: Type.Literal(kind),
  isEnabled: Type.Boolean(),
  notes: nullable(Type.String()),
  categories: Type.Array(
    Type.Object({
      name: Type.String(),
      description: nullable(Type.String()),
      priority: Type.Integer({ minimum: 1, description: 'From 1 on, without gaps.' }),
      destinationIds: Type.Array(Type.String()),
      logic: nullable(anyLogic),
    }),
  ),
});

const categoryFields = Type.Object(
  {
    name: Type.Optional(nullable(nameField)),
    description: Type.Optional(descriptionField),
    destinationIds: Type.Optional(
      nullable(
        Type.Array(Type.String(), { maxItems: 1_000, description: 'Ids that the account does not have are dropped.' }),
      ),
    ),
    logic: logicField,
    priority: Type.Optional(
      nullable(Type.Number({ description: 'The sort key of categories; categories without one come last.' })),
    ),
  },
  { additionalProperties: false },
);

const headFields = {
  name: Type.Optional(nullable(nameField)),
  notes: Type.Optional(descriptionField),
  isEnabled: Type.Optional(nullable(Type.Boolean())),
};

const changeFields = {
  ...headFields,
  categories: Type.Optional(nullable(Type.Array(categoryFields, { maxItems: 200 }))),
};

export const dataGovernanceEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/data-governance',
    scope: 'globalDispatchCenters:list',
    id: 'libraryListDataGovernance',
    tag: 'Data governance',
    summary: 'The account-wide dispatch rules: a list of one entry, or an empty list',
    query: Type.Object(pageQuery),
    reply: pageOf(reply),
    async handle({ query, principal }, { storage, paginator }) {
      const { accountId } = principal;
      const list = { list: 'data-governance', accountId, filters: {} };
      const { limit, after } = paginator.read(query, list);
      const page = { limit: limit + 1, after };
      const rows = await listEntities(storage.fork(), accountId, 'globalDispatchCenters', {}, page);
      return paginator.page(list, limit, rows, entityPosition, view);
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/data-governance',
    scope: 'globalDispatchCenters:create',
    id: 'libraryCreateDataGovernance',
    tag: 'Data governance',
    summary: 'Add the rules, disabled unless `isEnabled` is true; 409 if the account already has them',
    body: Type.Object(headFields, { additionalProperties: false }),
    bodyOptional: true,
    reply,
    handle: ({ body, principal }, services) =>
      edit(services, principal, async (editing) =>
        view(
          await createEntity(editing, globalDispatchCenters, {
            name: body.name ?? nameByDefault,
            notes: body.notes ?? null,
            isEnabled: body.isEnabled ?? false,
          }),
        ),
      ),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/data-governance/{id}',
    scope: 'globalDispatchCenters:find',
    id: 'libraryGetDataGovernance',
    tag: 'Data governance',
    summary: 'Read the rules',
    reply,
    async handle({ params, principal }, { storage }) {
      const row = await requireEntity(storage.fork(), principal.accountId, 'globalDispatchCenters', params.id);
      return view(row);
    },
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/data-governance/{id}',
    scope: 'globalDispatchCenters:update',
    id: 'libraryUpdateDataGovernance',
    tag: 'Data governance',
    summary: 'Change the rules; categories are replaced whole, sorted by their priority and numbered from 1 on',
    body: changeSchema(changeFields, reply),
    reply,
    handle: ({ params, body, principal }, services) =>
      edit(services, principal, async (editing) => {
        const { id } = params;
        const before = await requireEntity(editing.em, principal.accountId, 'globalDispatchCenters', id);
        const { name, notes, isEnabled, categories } = changedFields(changeFields, body, view(before));
        const fields = {
          ...(name === undefined ? {} : { name }),
          ...(notes === undefined ? {} : { notes }),
          ...(isEnabled === undefined || isEnabled === null ? {} : { isEnabled }),
          ...(categories === undefined || categories === null ? {} : { categories: await stored(editing, categories) }),
        };
        return view(await patchEntity(editing, globalDispatchCenters, id, fields));
      }),
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/data-governance/{id}',
    scope: 'globalDispatchCenters:delete',
    id: 'libraryDeleteDataGovernance',
    tag: 'Data governance',
    summary: 'Remove the rules from the draft',
    reply: Type.Object({ id: Type.String(), deleted: Type.Literal(true) }),
    async handle({ params, principal }, services) {
      const { id } = params;
      await edit(services, principal, (editing) => deleteEntity(editing, globalDispatchCenters, id));
      return { id, deleted: true };
    },
  }),
];

type GivenCategory = Static<typeof categoryFields>;
type Center = Static<typeof globalDispatchCenters.body>;

function inOrder(categories: readonly GivenCategory[]): readonly GivenCategory[] {
  const place = ({ priority }: GivenCategory): number => priority ?? Number.POSITIVE_INFINITY;
  // Equal places are not subtracted, because Infinity minus Infinity is NaN.
  return categories.toSorted((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));
}

async function stored(
  { em, principal }: Editing,
  categories: readonly GivenCategory[],
): Promise<readonly JsonObject[]> {
  const bodies: JsonObject[] = [];
  for (const [index, { name, description, destinationIds, logic }] of inOrder(categories).entries()) {
    bodies.push({
      name: name ?? `Category ${index + 1}`,
      description: description ?? null,
      priority: index + 1,
      destinationIds: await knownIds(em, principal.accountId, 'destinations', destinationIds ?? []),
      logic: givenLogic(logic),
    });
  }
  return bodies;
}

function view(row: ConfigEntityRow): JsonObject {
  const { name, notes, isEnabled, categories } = { ...globalDispatchCenters.defaults, ...row.body } as Center;
  return {
    id: row.id,
    name,
    kind,
    isEnabled,
    notes,
    categories: categories
      .toSorted((a, b) => a.priority - b.priority)
      .map((category, index) => ({
        name: category.name,
        description: category.description ?? null,
        priority: index + 1,
        destinationIds: category.destinationIds,
        logic: category.logic,
      })),
    createdAt: row.createdAt.toISOString(),
    updatedAt: (row.updatedAt ?? row.createdAt).toISOString(),
  };
}
