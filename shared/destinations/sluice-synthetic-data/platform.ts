import { defineOwnEndpoint } from '../sdk/own-endpoint.ts';

/** An operator's endpoint, whose requests are marked as made up by a header. */
export const syntheticEndpoint = defineOwnEndpoint({ 'x-sluice-synthetic': /^true$/ });
