import Fastify from 'fastify';
import { connect } from 'nats';

/** The common design: Fastify with a compiled JSON schema, and one awaited JetStream publish per event. */
const port = Number(process.argv[2]);
const natsUrl = process.argv[3] ?? '';
const nc = await connect({ servers: natsUrl, noAsyncTraces: true });
const js = nc.jetstream();
const app = Fastify();

app.post(
  '/api/v1/track',
  {
    schema: {
      body: {
        type: 'object',
        required: ['token', 'event'],
        properties: {
          token: { type: 'string', minLength: 1, maxLength: 250 },
          event: { type: 'string', minLength: 1, maxLength: 1000 },
          externalId: { type: 'string', minLength: 1, maxLength: 400 },
          properties: { type: 'object' },
        },
      },
      // As Fastify's documentation recommends: with a response schema, Fastify serialises without JSON.stringify.
      response: { 200: { type: 'object', properties: { success: { type: 'boolean' } } } },
    },
  },
  async (request) => {
    await js.publish('peer.events', JSON.stringify(request.body));
    return { success: true };
  },
);
await app.listen({ port, host: '127.0.0.1' });
process.send?.('ready');
