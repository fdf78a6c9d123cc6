import { destinations } from '../../shared/collections/destinations.ts';
import type { DestinationBody } from '../../shared/collections/destinations.ts';
import { createSchema } from '../collections/entity-schemas.ts';
import { destinationReply, viewDestination } from '../destinations/destination-view.ts';
import { createDestination as addDestination } from '../destinations/edit-destinations.ts';
import { edit } from '../draft/edit.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';

export const createDestination = defineEndpoint({
  method: 'POST',
  path: '/rest/v1/destinations',
  scope: 'destination:create',
  id: 'createDestination',
  tag: 'Destinations',
  summary: 'Add a destination to the draft',
  body: createSchema(destinations),
  reply: destinationReply,
  async handle({ body, actor }, services) {
    const fields = body as Partial<DestinationBody> & { type: string };
    return viewDestination(
      await edit(services, actor, (editing) => addDestination(editing, services.secretBox, fields)),
    );
  },
});
