import { defineOwnEndpoint } from '../sdk/own-endpoint.ts';

/** An operator's endpoint; a header marks the events of each request as made up. */
export const syntheticEndpoint = defineOwnEndpoint({ 'x-sluice-synthetic': /^true$/ });
