import { Type } from 'typebox';
import { googleRefusals } from '../sdk/google-answers.ts';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { anyRows, someText } from '../sdk/platform-schemas.ts';

const message = Type.Object({
  data: Type.String({ pattern: '^[A-Za-z0-9+/]+={0,2}$' }),
  attributes: Type.Record(Type.String({ pattern: '^(?!goog)' }), Type.String({ maxLength: 1_024 }), {
    additionalProperties: false,
  }),
  orderingKey: Type.Optional(someText),
});

/**
 * Publishing to a topic: Pub/Sub accepts all messages of a request or none.
 * https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics/publish
 */
export const pubSubPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/v1/projects/{project}/topics/{topic}:publish',
      credentials: inHeader('authorization', /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/),
      content: 'json',
      body: Type.Object({ messages: anyRows }),
      rows: [{ at: 'messages', schema: message }],
      rowsMax: 1_000,
      bytesMax: 10_000_000,
    },
  ],
  answers: {
    success: (rows) => ({ status: 200, body: { messageIds: rows.map((_row, index) => String(index + 1)) } }),
    ...googleRefusals,
  },
});
