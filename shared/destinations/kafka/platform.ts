import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { anyRows } from '../sdk/platform-schemas.ts';

const error = (status: number, type: string) => ({ status, body: { error: type } });

/**
 * A topic of Kafka, for requests in the form that `shared/egress/protocols/kafka.ts` receives.
 * https://kafka.apache.org/protocol.html
 */
export const kafkaPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '**',
      credentials: inHeader('authorization', /^Basic \S+$/),
      content: 'json',
      body: Type.Object({ topic: Type.String({ pattern: '^[\\w.-]{1,249}$' }), messages: anyRows }),
      rows: [
        {
          at: 'messages',
          schema: Type.Object(
            {
              key: Type.String({ minLength: 1 }),
              value: Type.String(),
              headers: Type.Record(Type.String(), Type.String()),
            },
            { additionalProperties: false },
          ),
        },
      ],
      bytesMax: 1_048_588,
    },
  ],
  answers: {
    success: (rows) => ({ status: 200, body: { stored: rows.length } }),
    refusal: () => error(422, 'INVALID_RECORD'),
    throttled: error(429, 'THROTTLING_QUOTA_EXCEEDED'),
    endedToken: error(401, 'SASL_AUTHENTICATION_FAILED'),
    tooLarge: error(413, 'MESSAGE_TOO_LARGE'),
    unavailable: error(503, 'NOT_ENOUGH_REPLICAS'),
  },
});
