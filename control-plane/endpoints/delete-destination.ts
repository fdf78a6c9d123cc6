import { Type } from 'typebox';
import { destinations } from '../../shared/collections/destinations.ts';
import { deleteEntity } from '../draft/edit-entities.ts';
import { edit } from '../draft/edit.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';

export const deleteDestination = defineEndpoint({
  method: 'DELETE',
  path: '/rest/v1/destinations/:id',
  scope: 'destination:delete',
  id: 'deleteDestination',
  tag: 'Destinations',
  summary: 'Take a destination out of the draft',
  reply: Type.Boolean(),
  async handle({ params, actor }, services) {
    await edit(services, actor, (editing) => deleteEntity(editing, destinations, params['id'] ?? ''));
    return true;
  },
});
