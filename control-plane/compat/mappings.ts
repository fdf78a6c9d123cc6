import { Type } from 'typebox';
import type { Static } from 'typebox';
import { mappings } from '../../shared/collections/mappings.ts';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { mappedPropertiesMax } from '../../shared/routing/mapping/apply-mapping.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { ConfigEntityRow } from '../../shared/postgres/entities.ts';
import { badRequest, found } from '../api/api-error.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { changeSchema, changedFields } from '../api/returned-fields.ts';
import { createEntity, deleteEntity, edit, patchEntity } from '../draft/edit-entities.ts';
import type { Editing } from '../draft/edit-entities.ts';
import { findEntity, requireEntity } from '../draft/entity-store.ts';
import { givenLogic, logicField } from './given-logic.ts';
import type { MappingBody } from './mapping-rules.ts';
import {
  bodyOf,
  destinationType,
  isDefaultRule,
  mappedField,
  mappingReply,
  numberRules,
  rulesOf,
  storedRows,
  viewMapping,
} from './mapping-rules.ts';
import type { Order } from '../api/page-in-memory.ts';
import { pageInMemory } from '../api/page-in-memory.ts';
import { templateReply, templatesOf, viewTemplate } from './mapping-templates.ts';

const id = Type.String({ minLength: 1, maxLength: 64 });
const { name } = mappings.body.properties;
const mappedRows = Type.Array(mappedField, { maxItems: mappedPropertiesMax });
const entityId = { ...id, description: 'A destination. Sources have no mappings.' };
const tag = 'Mappings';

const createBody = Type.Object(
  {
    allowedEventId: Type.Optional({ ...id, description: 'With destinationId: a mapping for the events of this name.' }),
    destinationId: Type.Optional(id),
    entityId: Type.Optional({ ...entityId, description: 'With templateId: a mapping of this destination.' }),
    templateId: Type.Optional(Type.String({ description: 'One of GET /rest/v1/mappings/templates.' })),
    insertAfterIdx: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Index, from 0, of the mapping that it follows. Defaults to the last one.',
      }),
    ),
    name: Type.Optional(name),
    isEnabled: Type.Optional(Type.Boolean({ description: 'Default true.' })),
    logic: logicField,
    mappings: Type.Optional(mappedRows),
  },
  { additionalProperties: false },
);

const changeFields = {
  name: Type.Optional(name),
  isEnabled: Type.Optional(nullable(Type.Boolean())),
  mappings: Type.Optional(mappedRows),
  logic: logicField,
};

const withTemplateOnly = ['insertAfterIdx', 'name', 'isEnabled', 'logic', 'mappings'] as const;

export const mappingEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/mappings',
    scope: 'mappings:list',
    id: 'libraryListMappings',
    tag,
    summary: 'The mappings of a destination, without its default mapping, in the order in which they are tried',
    query: Type.Object({ ...pageQuery, entityId }),
    reply: pageOf(mappingReply),
    async handle({ query, principal }, { storage, paginator }) {
      const { accountId } = principal;
      const list = { list: 'library-mappings', accountId, filters: { entityId: query.entityId } };
      const em = storage.fork();
      const type = (await destinationType(em, accountId, query.entityId)) ?? '';
      const rows = (await rulesOf(em, accountId, query.entityId)).filter((row) => !isDefaultRule(bodyOf(row)));
      return pageInMemory(paginator, query, list, { rows, order, view: (row) => viewMapping(row, type) });
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/mappings',
    scope: 'mappings:create',
    id: 'libraryCreateMapping',
    tag,
    summary:
      'Add a mapping: {allowedEventId, destinationId} for the events of one name, or {entityId, templateId, …}. Without ' +
      'mappings the properties of the event are sent unchanged',
    body: createBody,
    reply: mappingReply,
    handle: ({ body, principal }, services) =>
      edit(services, principal, async (editing) => {
        const { destinationId, fields, insertAfterIdx } = await readNew(editing, body);
        const { em } = editing;
        const type = await destinationType(em, principal.accountId, destinationId);
        if (type === undefined) throw badRequest(`there is no destination ${destinationId}`);
        const before = await rulesOf(em, principal.accountId, destinationId);
        const made = await createEntity(editing, mappings, { ...fields, destinationId });
        await numberRules(editing, before.toSpliced((insertAfterIdx ?? before.length) + 1, 0, made));
        return viewMapping(made, type);
      }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/mappings/{id}',
    scope: 'mappings:find',
    id: 'libraryGetMapping',
    tag,
    summary: 'Read a mapping',
    reply: mappingReply,
    async handle({ params, principal }, { storage }) {
      const em = storage.fork();
      const row = await requireEntity(em, principal.accountId, 'mappings', params.id);
      return viewMapping(row, (await destinationType(em, principal.accountId, bodyOf(row).destinationId)) ?? '');
    },
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/mappings/{id}',
    scope: 'mappings:update',
    id: 'libraryUpdateMapping',
    tag,
    summary: 'Change fields of a mapping; mappings are replaced whole, an empty logic always applies',
    body: changeSchema(changeFields, mappingReply),
    reply: mappingReply,
    handle: ({ params, body, principal }, services) =>
      edit(services, principal, async (editing) => {
        const { em } = editing;
        const { accountId } = principal;
        const stored = await requireEntity(em, accountId, 'mappings', params.id);
        const type = (await destinationType(em, accountId, bodyOf(stored).destinationId)) ?? '';
        const changed = changedFields(changeFields, body, viewMapping(stored, type));
        const { isEnabled, logic, mappings: mapped, name: given } = changed;
        const fields = {
          ...(given === undefined ? {} : { name: given }),
          ...(isEnabled === undefined || isEnabled === null ? {} : { isEnabled }),
          ...(logic === undefined ? {} : { logic: givenLogic(logic) }),
          ...(mapped === undefined ? {} : { mappings: storedRows(mapped) }),
        };
        const row = await patchEntity(editing, mappings, params.id, fields, (next, before) => {
          if (isDefaultRule(before as MappingBody) && next['logic'] !== null) {
            throw badRequest('logic: a default mapping always applies');
          }
          return next;
        });
        return viewMapping(row, type);
      }),
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/mappings/{id}',
    scope: 'mappings:delete',
    id: 'libraryDeleteMapping',
    tag,
    summary: 'Remove a mapping from the draft',
    reply: Type.Boolean(),
    async handle({ params, principal }, services) {
      await edit(services, principal, (editing) => deleteEntity(editing, mappings, params.id));
      return true;
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/mappings/reorder',
    scope: 'mappings:update',
    id: 'libraryReorderMappings',
    tag,
    summary: 'Reorder mappings of one destination; those not listed keep their priorities',
    body: Type.Object(
      {
        uuids: Type.Array(id, {
          minItems: 1,
          maxItems: 1_000,
          uniqueItems: true,
          description: 'The first is tried first.',
        }),
      },
      { additionalProperties: false },
    ),
    reply: Type.Object({ entities: Type.Array(mappingReply) }),
    handle: ({ body, principal }, services) =>
      edit(services, principal, async (editing) => {
        const { em } = editing;
        const moved = await findRules(editing, body.uuids);
        const [destinationId, ...others] = new Set(moved.map((row) => bodyOf(row).destinationId));
        if (destinationId === undefined || others.length > 0) {
          throw badRequest('uuids must name mappings of one destination');
        }
        const rest = moved.values();
        const named = new Set(body.uuids);
        const rules = await rulesOf(em, principal.accountId, destinationId);
        await numberRules(
          editing,
          rules.map((row) => (named.has(row.id) ? (rest.next().value ?? row) : row)),
        );
        const type = (await destinationType(em, principal.accountId, destinationId)) ?? '';
        return { entities: moved.map((row) => viewMapping(row, type)) };
      }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/mappings/templates',
    scope: 'mappings:find',
    id: 'libraryListMappingTemplates',
    tag,
    summary: 'Templates for mappings of a destination; none for a source, which has no mappings',
    query: Type.Object({ entityId }),
    reply: Type.Object({ entities: Type.Array(templateReply) }),
    async handle({ query, principal }, { storage }) {
      const em = storage.fork();
      const type = await destinationType(em, principal.accountId, query.entityId);
      if (type !== undefined) return { entities: templatesOf(type).map((template) => viewTemplate(type, template)) };
      await found(findEntity(em, principal.accountId, 'sources', query.entityId), 'destination');
      return { entities: [] };
    },
  }),
];

type NewMapping = {
  readonly destinationId: string;
  readonly fields: JsonObject;
  readonly insertAfterIdx: number | undefined;
};

/** The new mapping, from either form of the body. Throws a 400 if the body has neither form, or both. */
async function readNew(editing: Editing, body: Static<typeof createBody>): Promise<NewMapping> {
  const { allowedEventId, destinationId, templateId } = body;
  if (allowedEventId !== undefined) {
    const more = [...withTemplateOnly, 'templateId' as const, 'entityId' as const].find(
      (field) => body[field] !== undefined,
    );
    if (more !== undefined) throw badRequest(`${more} does not go with allowedEventId`);
    if (destinationId === undefined) throw badRequest('destinationId is required with allowedEventId');
    return { destinationId, fields: await forEvent(editing, allowedEventId), insertAfterIdx: undefined };
  }
  if (body.entityId === undefined || templateId === undefined) {
    throw badRequest('either allowedEventId and destinationId are required, or entityId and templateId');
  }
  if (destinationId !== undefined) throw badRequest('destinationId does not go with templateId: it is the entityId');
  return {
    destinationId: body.entityId,
    fields: await fromTemplate(editing, body),
    insertAfterIdx: body.insertAfterIdx,
  };
}

async function forEvent({ em, principal }: Editing, allowedEventId: string): Promise<JsonObject> {
  const event = await findEntity(em, principal.accountId, 'allowedEvents', allowedEventId);
  if (event === undefined) throw badRequest(`allowedEventId: there is no allowed event ${allowedEventId}`);
  const eventName = String(event.body['name']);
  // Names of allowed events are compared ignoring case, so the rule ignores case too.
  const value = `^${eventName.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}$`;
  const condition = { property: 'event.event', operator: 'MatchesRegexIgnoreCase', value };
  return { name: eventName.slice(0, 250), logic: { condition } };
}

async function fromTemplate({ em, principal }: Editing, body: Static<typeof createBody>): Promise<JsonObject> {
  const { entityId: owner = '', templateId = '', logic, isEnabled = true } = body;
  const type = await destinationType(em, principal.accountId, owner);
  if (type === undefined) {
    const source = await findEntity(em, principal.accountId, 'sources', owner);
    throw badRequest(
      source === undefined
        ? `entityId: there is no destination ${owner}`
        : 'entityId: mappings of sources are not part of Sluice',
    );
  }
  const template = templatesOf(type).find((one) => one.id === templateId);
  if (template === undefined) {
    throw badRequest(`templateId: a ${type} has no template ${templateId}`, 'see GET /rest/v1/mappings/templates');
  }
  if (template.isDefault) {
    throw badRequest(`templateId: the default mapping is written by PUT /rest/v1/default-mappings/${owner}`);
  }
  return {
    name: body.name ?? template.name,
    isEnabled,
    logic: givenLogic(logic),
    eventName: template.eventName,
    mappings: storedRows(body.mappings ?? []),
  };
}

async function findRules({ em, principal }: Editing, ids: readonly string[]): Promise<readonly ConfigEntityRow[]> {
  const rows: ConfigEntityRow[] = [];
  for (const ruleId of ids) {
    const row = await findEntity(em, principal.accountId, 'mappings', ruleId);
    if (row === undefined) throw badRequest(`uuids: there is no mapping ${ruleId}`);
    if (isDefaultRule(bodyOf(row))) {
      throw badRequest(`uuids: ${ruleId} is a default mapping, which is always the last`);
    }
    rows.push(row);
  }
  return rows;
}

const order: Order<ConfigEntityRow> = {
  position: (row) => [bodyOf(row).priority, row.id],
  direction: 'ascending',
};
