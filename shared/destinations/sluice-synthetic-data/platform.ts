import { defineOwnEndpoint } from '../sdk/own-endpoint.ts';

/** The endpoint that is informed that the events are made up. */
export const syntheticEndpoint = defineOwnEndpoint({ 'x-sluice-synthetic': /^true$/ });
