import { defineOwnEndpoint } from '../sdk/own-endpoint.ts';

/** An endpoint that accepts the canonical event. */
export const httpEndpoint = defineOwnEndpoint({ traceparent: /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/ });
