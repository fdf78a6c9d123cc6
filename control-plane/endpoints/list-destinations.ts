import { Type } from 'typebox';
import { enabledStatus } from '../../shared/collections/define.ts';
import { destinationTypes } from '../../shared/collections/destination-types.ts';
import { destinationReply, viewDestination } from '../destinations/destination-view.ts';
import { entityPosition, listEntities } from '../draft/entity-store.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';
import { pageOf, pageQuery } from '../http/pagination.ts';

export const listDestinations = defineEndpoint({
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
  }),
  reply: pageOf(destinationReply),
  async handle({ query, actor }, { storage, paginator }) {
    const { accountId } = actor;
    const { status, type } = query;
    const list = { list: 'destinations', accountId, filters: { status, type } };
    const { limit, after } = paginator.read(query, list);
    const filters = { equals: { status, type } };
    const rows = await listEntities(storage.fork(), accountId, 'destinations', filters, { limit: limit + 1, after });
    return paginator.page(list, limit, rows, entityPosition, viewDestination);
  },
});
