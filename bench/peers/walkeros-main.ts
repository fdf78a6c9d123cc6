import Fastify from 'fastify';
import { startFlow } from '@walkeros/collector';
import { destinationAPI } from '@walkeros/server-destination-api';

/**
 * walkerOS set up as in its documentation: a flow with the API destination, behind an HTTP server. Each push is awaited
 * before the response, so a 200 means delivered; nothing is stored.
 * https://www.walkeros.io/docs/destinations/api/server
 */
type Track = {
  readonly event: string;
  readonly externalId?: string;
  readonly properties?: Record<string, string | number | boolean>;
};

const port = Number(process.argv[2]);
const url = process.argv[3] ?? '';
const { elb } = await startFlow({
  destinations: {
    api: { code: destinationAPI, config: { settings: { url, headers: { 'Content-Type': 'application/json' } } } },
  },
});
const app = Fastify();

app.post<{ Body: Track }>(
  '/api/v1/track',
  {
    schema: {
      body: {
        type: 'object',
        required: ['token', 'event'],
        properties: { event: { type: 'string', minLength: 1, maxLength: 1000 }, properties: { type: 'object' } },
      },
      // As Fastify's documentation recommends: with a response schema, Fastify serialises without JSON.stringify.
      response: { 200: { type: 'object', properties: { success: { type: 'boolean' } } } },
    },
  },
  async ({ body }) => {
    const { externalId, properties = {} } = body;
    const { ok } = await elb({
      name: body.event.toLowerCase(),
      data: properties,
      ...(externalId === undefined ? {} : { user: { id: externalId } }),
    });
    if (!ok) throw new Error('walkerOS did not accept the event');
    return { success: true };
  },
);
await app.listen({ port, host: '127.0.0.1' });
process.send?.('ready');
