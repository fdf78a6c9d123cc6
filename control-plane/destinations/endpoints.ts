import { editEndpoints } from './edit-endpoints.ts';
import { getDelivery } from './delivery-endpoint.ts';
import { sendingEndpoints } from './sending-endpoints.ts';
import { listStandardEvents } from './standard-events-endpoint.ts';
import { testDestination } from './test-endpoint.ts';

export const destinationEndpoints = [
  ...editEndpoints,
  ...sendingEndpoints,
  getDelivery,
  listStandardEvents,
  testDestination,
];
