import { Type } from 'typebox';
import { enabledStatus, nullable } from '../../shared/collections/define.ts';
import { destinations } from '../../shared/collections/destinations.ts';
import { patchSchema } from '../collections/entity-schemas.ts';
import { destinationReply, viewDestination } from '../destinations/destination-view.ts';
import { patchDestination } from '../destinations/edit-destinations.ts';
import { edit } from '../draft/edit.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';

export const updateDestination = defineEndpoint({
  method: 'PATCH',
  path: '/rest/v1/destinations/:id',
  scope: 'destination:update',
  id: 'updateDestination',
  tag: 'Destinations',
  summary: 'Change fields of a destination; settings are merged key by key',
  body: patchSchema(destinations, { status: Type.Optional(nullable(enabledStatus)) }),
  reply: destinationReply,
  async handle({ params, body, actor }, services) {
    return viewDestination(
      await edit(services, actor, (editing) =>
        patchDestination(editing, services.secretBox, params['id'] ?? '', body as Record<string, unknown>),
      ),
    );
  },
});
