import { Type } from 'typebox';
import { enabledStatus, nullable } from '../../shared/contracts/config/define-collection.ts';
import { creatableDestinationTypes, destinationTypes } from '../../shared/collections/destination-types.ts';
import { destinations } from '../../shared/collections/destinations.ts';
import type { DestinationBody } from '../../shared/collections/destinations.ts';
import { unavailableDestinationTypes } from '../../shared/collections/unavailable-destination-types.ts';
import { destinationKinds } from '../../shared/destinations/registry.ts';
import { defineEndpoint } from '../api/define-endpoint.ts';
import { pageOf, pageQuery } from '../api/pagination.ts';
import { createSchema, patchSchema } from '../collections/entity-schemas.ts';
import { deleteEntity, edit } from '../draft/edit-entities.ts';
import { entityPosition, listEntities, requireEntity } from '../draft/entity-store.ts';
import { destinationDescriptorReply, destinationReply, viewDestination } from './destination-view.ts';
import { createDestination, patchDestination } from './edit-destinations.ts';

const ids = destinationKinds.map(({ descriptor }) => descriptor.id);
const offered = `One of the types in GET /rest/v1/destinations/types: ${ids.join(', ')}.`;

const entities = destinationKinds.map(({ descriptor, facts }) => ({
  ...descriptor,
  names: [...(facts.namesElsewhere ?? [])],
}));

/** The destinations of the draft. */
export const editEndpoints = [
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations',
    scope: 'destination:list',
    id: 'listDestinations',
    tag: 'Destinations',
    summary: 'List destinations, newest first',
    query: Type.Object({
      ...pageQuery,
      status: Type.Optional(enabledStatus),
      type: Type.Optional(Type.Enum([...destinationTypes])),
      nameContains: Type.Optional(Type.String({ maxLength: 250 })),
    }),
    reply: pageOf(destinationReply),
    async handle({ query, principal }, { storage, paginator }) {
      const { accountId } = principal;
      const { status, type, nameContains } = query;
      const list = { list: 'destinations', accountId, filters: { status, type, nameContains } };
      const { limit, after } = paginator.read(query, list);
      const filters = { equals: { status, type }, nameContains };
      const rows = await listEntities(storage.fork(), accountId, 'destinations', filters, { limit: limit + 1, after });
      return paginator.page(list, limit, rows, entityPosition, viewDestination);
    },
  }),
  defineEndpoint({
    method: 'POST',
    path: '/rest/v1/destinations',
    scope: 'destination:create',
    id: 'createDestination',
    tag: 'Destinations',
    summary:
      'Add a destination to the draft; without its required settings it is Disabled, and cannot be enabled or published',
    body: Type.Object(
      {
        ...createSchema(destinations).properties,
        type: Type.Enum([...creatableDestinationTypes], { description: offered }),
      },
      { additionalProperties: false },
    ),
    reply: destinationReply,
    async handle({ body, principal }, services) {
      const fields = body as Partial<DestinationBody> & { readonly type: string };
      return viewDestination(
        await edit(services, principal, (editing) => createDestination(editing, services.secretBox, fields)),
      );
    },
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/types',
    scope: 'destination:list',
    id: 'listDestinationTypes',
    tag: 'Destinations',
    summary: 'The kinds of destination that can be created, and the settings of each',
    reply: Type.Object({ entities: Type.Array(destinationDescriptorReply) }),
    handle: async () => ({ entities }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/types/unavailable',
    scope: 'destination:list',
    id: 'listUnavailableDestinationTypes',
    tag: 'Destinations',
    summary: 'The kinds of destination that are known by name and cannot be created, and why',
    reply: Type.Object({
      entities: Type.Array(Type.Object({ id: Type.String(), label: Type.String(), reason: Type.String() })),
    }),
    handle: async () => ({ entities: [...unavailableDestinationTypes] }),
  }),
  defineEndpoint({
    method: 'GET',
    path: '/rest/v1/destinations/{id}',
    scope: 'destination:find',
    id: 'getDestination',
    tag: 'Destinations',
    summary: 'Read a destination',
    reply: destinationReply,
    async handle({ params, principal }, { storage }) {
      const row = await requireEntity(storage.fork(), principal.accountId, 'destinations', params.id);
      return viewDestination(row);
    },
  }),
  defineEndpoint({
    method: 'PATCH',
    path: '/rest/v1/destinations/{id}',
    scope: 'destination:update',
    id: 'updateDestination',
    tag: 'Destinations',
    summary:
      'Change fields of a destination; settings are merged key by key. If the scheme, host or port to send to changes, its ' +
      'secrets must be sent again',
    body: patchSchema(destinations, { status: Type.Optional(nullable(enabledStatus)) }),
    reply: destinationReply,
    async handle({ params, body, principal }, services) {
      return viewDestination(
        await edit(services, principal, (editing) =>
          patchDestination(editing, services.secretBox, params.id, body as Record<string, unknown>),
        ),
      );
    },
  }),
  defineEndpoint({
    method: 'DELETE',
    path: '/rest/v1/destinations/{id}',
    scope: 'destination:delete',
    id: 'deleteDestination',
    tag: 'Destinations',
    summary: 'Remove a destination from the draft',
    reply: Type.Boolean(),
    async handle({ params, principal }, services) {
      await edit(services, principal, (editing) => deleteEntity(editing, destinations, params.id));
      return true;
    },
  }),
];
