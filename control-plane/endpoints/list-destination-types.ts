import { Type } from 'typebox';
import { destinationKinds } from '../../shared/destinations/registry.ts';
import { destinationDescriptorReply } from '../destinations/descriptor-reply.ts';
import { defineEndpoint } from '../http/define-endpoint.ts';

const entities = destinationKinds.map((kind) => kind.descriptor);

export const listDestinationTypes = defineEndpoint({
  method: 'GET',
  path: '/rest/v1/destinations/types',
  scope: 'destination:list',
  id: 'listDestinationTypes',
  tag: 'Destinations',
  summary: 'The kinds of destination that can be created, and the settings of each',
  reply: Type.Object({ entities: Type.Array(destinationDescriptorReply) }),
  handle: async () => ({ entities }),
});
