import { destinationReply, viewDestination } from '../destinations/destination-view.ts';
import { findEntity } from '../draft/entity-store.ts';
import { notFound } from '../http/api-error.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';

export const readDestination = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/destinations/:id',
  scope: 'destination:find',
  id: 'getDestination',
  tag: 'Destinations',
  summary: 'Read a destination',
  reply: destinationReply,
  async handle({ params, actor }, { storage }) {
    const row = await findEntity(storage.fork(), actor.accountId, 'destinations', params['id'] ?? '');
    if (row === undefined) throw notFound('destination');
    return viewDestination(row);
  },
});
