import { defineOwnEndpoint } from '../sdk/own-endpoint.ts';

/** What is told that the events it takes are made up. */
export const syntheticEndpoint = defineOwnEndpoint({ 'x-sluice-synthetic': /^true$/ });
