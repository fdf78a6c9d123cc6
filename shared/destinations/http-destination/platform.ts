import { defineOwnEndpoint } from '../sdk/own-endpoint.ts';

/** An operator's endpoint that accepts the canonical event, with a trace context. */
export const httpEndpoint = defineOwnEndpoint({ traceparent: /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/ });
