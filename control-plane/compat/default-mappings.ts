import { Type } from 'typebox';
import { mappings } from '../../shared/collections/mappings.ts';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { mappedPropertiesMax } from '../../shared/routing/mapping/apply-mapping.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { found } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { changeSchema, changedFields } from '../api/returned-fields.ts';
import { createEntity, edit, patchEntity } from '../draft/edit-entities.ts';
import { loadEntities } from '../draft/entity-store.ts';
import {
  bodyOf,
  defaultPriority,
  destinationType,
  isDefaultRule,
  mappedField,
  mappingReply,
  rulesOf,
  storedRows,
  viewMapping,
} from './mapping-rules.ts';
import { templateOf } from './mapping-templates.ts';

const tag = 'Default mappings';
const name = 'Default mapping';

const fields = {
  mappings: Type.Array(mappedField, { maxItems: mappedPropertiesMax }),
  isEnabled: Type.Optional(nullable(Type.Boolean({ description: 'Default true.' }))),
};

/** The handling of events that no other mapping of the destination matches. */
export const defaultMappingEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/default-mappings',
    scope: 'mappings:list',
    id: 'libraryListDefaultMappings',
    tag,
    summary: 'List the stored default mappings',
    reply: Type.Object({ entities: Type.Array(mappingReply) }),
    async handle({ principal }, { storage }) {
      const em = storage.fork();
      const { accountId } = principal;
      const destinations = await loadEntities(em, accountId, 'destinations');
      const types = new Map(destinations.map((row) => [row.id, String(row.body['type'])]));
      const rules = (await loadEntities(em, accountId, 'mappings')).filter((row) => isDefaultRule(bodyOf(row)));
      return { entities: rules.map((row) => viewMapping(row, types.get(bodyOf(row).destinationId) ?? '')) };
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/default-mappings/{id}',
    scope: 'mappings:find',
    id: 'libraryGetDefaultMapping',
    tag,
    summary: 'The default mapping of the destination with this id; if none is stored, the mapping that applies instead',
    reply: mappingReply,
    async handle({ params, principal }, { storage }) {
      const em = storage.fork();
      const destinationId = params.id;
      const type = await found(destinationType(em, principal.accountId, destinationId), 'destination');
      const rules = await rulesOf(em, principal.accountId, destinationId);
      const written = rules.find((row) => isDefaultRule(bodyOf(row)));
      return written === undefined ? unwritten(destinationId, type) : viewMapping(written, type);
    },
  }),
  defineEndpoint({
    method: 'PUT',
    path: '/rest/v1/default-mappings/{id}',
    scope: 'mappings:update',
    id: 'libraryPutDefaultMapping',
    tag,
    summary:
      'Store the default mapping of the destination with this id; without mappings the properties of the event are sent ' +
      'unchanged',
    body: changeSchema(fields, mappingReply),
    reply: mappingReply,
    handle: ({ params, body, principal }, services) =>
      edit(services, principal, async (editing) => {
        const destinationId = params.id;
        const type = await found(destinationType(editing.em, principal.accountId, destinationId), 'destination');
        const rules = await rulesOf(editing.em, principal.accountId, destinationId);
        const written = rules.find((row) => isDefaultRule(bodyOf(row)));
        changedFields(
          fields,
          body,
          written === undefined ? unwritten(destinationId, type) : viewMapping(written, type),
        );
        const given = { mappings: storedRows(body.mappings), isEnabled: body.isEnabled ?? true };
        const row =
          written === undefined
            ? await createEntity(editing, mappings, { ...given, name, destinationId, priority: defaultPriority })
            : await patchEntity(editing, mappings, written.id, given);
        return viewMapping(row, type);
      }),
  }),
];

/** The default mapping of a destination without a stored one: it sends what the destination's kind sends by default. */
function unwritten(destinationId: string, type: string): JsonObject {
  const template = templateOf(type, { isDefault: true, eventName: null });
  return {
    id: destinationId,
    name,
    updatedAt: null,
    isEnabled: true,
    templateName: template?.name ?? null,
    templateId: template?.id ?? null,
    destinationId,
    sourceId: null,
    isDefaultMapping: true,
    priority: defaultPriority,
    action: 'send',
    mappings: [],
    logic: {},
  };
}
