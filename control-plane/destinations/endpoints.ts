import { editEndpoints } from './edit-endpoints.ts';
import { sendingEndpoints } from './sending-endpoints.ts';
import { listStandardEvents } from './standard-events-endpoint.ts';
import { testDestination } from './test-endpoint.ts';

export const destinationEndpoints = [...editEndpoints, ...sendingEndpoints, listStandardEvents, testDestination];
