import { Type } from 'typebox';
import { creatableDestinationTypes } from '../../shared/collections/destination-types.ts';
import { destinations } from '../../shared/collections/destinations.ts';
import type { DestinationBody } from '../../shared/collections/destinations.ts';
import { destinationKinds } from '../../shared/destinations/registry.ts';
import { createSchema } from '../collections/entity-schemas.ts';
import { destinationReply, viewDestination } from '../destinations/destination-view.ts';
import { createDestination as addDestination } from '../destinations/edit-destinations.ts';
import { edit } from '../draft/edit.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';

const ids = destinationKinds.map(({ descriptor }) => descriptor.id);
const offered = `One that GET /rest/v1/destinations/types offers: ${ids.join(', ')}.`;

export const createDestination = defineEndpoint({
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
  async handle({ body, actor }, services) {
    const fields = body as Partial<DestinationBody> & { readonly type: string };
    return viewDestination(
      await edit(services, actor, (editing) => addDestination(editing, services.secretBox, fields)),
    );
  },
});
