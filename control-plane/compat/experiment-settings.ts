import { Type } from 'typebox';
import { experimentSettings } from '../../shared/collections/experiments.ts';
import { nameField, nullable } from '../../shared/contracts/config/define-collection.ts';
import type { ExperimentSettingsBody } from '../../shared/experiments/experiment-bodies.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { changeSchema, changedFields } from '../api/returned-fields.ts';
import { entityFields } from '../collections/entity-schemas.ts';
import { createEntity, deleteEntity, edit, patchEntity } from '../draft/edit-entities.ts';
import { loadEntities, requireEntity } from '../draft/entity-store.ts';

const tag = 'Experiment settings';
const nameByDefault = 'Experiment Settings';

/** The account's settings for experiments, in the platform library's shape. */
const reply = Type.Object({
  ...entityFields,
  accountId: Type.String(),
  name: Type.String(),
  pixel: Type.String({ description: 'The token with which a page requests assignments.' }),
  cookieName: Type.Null({ description: 'Assignments are kept with the visitor, not in a cookie.' }),
  whitelistDomains: experimentSettings.body.properties.whitelistDomains,
  createdByUserId: Type.Null(),
  updatedByUserId: Type.Null(),
});

const fields = {
  name: Type.Optional(nullable(nameField)),
  cookieName: Type.Optional(
    Type.Null({
      description: 'Assignments are kept with the visitor: a cookie of another name is not part of Sluice.',
    }),
  ),
  whitelistDomains: Type.Optional(experimentSettings.body.properties.whitelistDomains),
};

export const experimentSettingsEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/experiment-settings',
    scope: 'experimentSettings:list',
    id: 'libraryListExperimentSettings',
    tag,
    summary: 'The settings for experiments: a list of one entry, or an empty list',
    reply: Type.Object({ entities: Type.Array(reply) }),
    async handle({ principal }, { storage }) {
      return { entities: (await loadEntities(storage.fork(), principal.accountId, 'experimentSettings')).map(view) };
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/experiment-settings',
    scope: 'experimentSettings:create',
    id: 'libraryCreateExperimentSettings',
    tag,
    summary: 'Add the settings; 409 if the account already has them',
    body: Type.Object(fields, { additionalProperties: false }),
    bodyOptional: true,
    reply,
    handle: ({ body: { name, whitelistDomains }, principal }, services) =>
      edit(services, principal, async (editing) =>
        view(
          await createEntity(editing, experimentSettings, {
            name: name ?? null,
            whitelistDomains: whitelistDomains ?? null,
          }),
        ),
      ),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/experiment-settings/{id}',
    scope: 'experimentSettings:find',
    id: 'libraryGetExperimentSettings',
    tag,
    summary: 'Read the settings',
    reply,
    async handle({ params, principal }, { storage }) {
      const row = await requireEntity(storage.fork(), principal.accountId, 'experimentSettings', params.id);
      return view(row);
    },
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/experiment-settings/{id}',
    scope: 'experimentSettings:update',
    id: 'libraryUpdateExperimentSettings',
    tag,
    summary: 'Change fields of the settings',
    body: changeSchema(fields, reply),
    reply,
    handle: ({ params, body, principal }, services) =>
      edit(services, principal, async (editing) => {
        const before = await requireEntity(editing.em, principal.accountId, 'experimentSettings', params.id);
        const { name, whitelistDomains } = changedFields(fields, body, view(before));
        const changed = {
          ...(name === undefined ? {} : { name }),
          ...(whitelistDomains === undefined ? {} : { whitelistDomains }),
        };
        return view(await patchEntity(editing, experimentSettings, params.id, changed));
      }),
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/experiment-settings/{id}',
    scope: 'experimentSettings:delete',
    id: 'libraryDeleteExperimentSettings',
    tag,
    summary: 'Remove the settings from the draft and return them; the experiments stay',
    reply,
    handle: ({ params, principal }, services) =>
      edit(services, principal, async (editing) => {
        const { id } = params;
        const row = await requireEntity(editing.em, principal.accountId, 'experimentSettings', id);
        await deleteEntity(editing, experimentSettings, id);
        return view(row);
      }),
  }),
];

function view(row: ConfigEntityRow): JsonObject {
  const stored = { ...experimentSettings.defaults, ...row.body } as unknown as ExperimentSettingsBody;
  return {
    id: row.id,
    accountId: row.accountId,
    name: stored.name ?? nameByDefault,
    pixel: stored.token,
    cookieName: null,
    whitelistDomains: stored.whitelistDomains,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt?.toISOString() ?? null,
    createdByUserId: null,
    updatedByUserId: null,
  };
}
