import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { anyRows, epochSeconds, someText } from '../sdk/platform-schemas.ts';

const identifiers = Type.Object(
  { id: Type.Optional(someText), email: Type.Optional(someText), anonymous_id: Type.Optional(someText) },
  { minProperties: 1, additionalProperties: false },
);

const identify = Type.Object({
  type: Type.Literal('person'),
  action: Type.Literal('identify'),
  identifiers,
  attributes: Type.Object({}),
});

const device = Type.Object({
  type: Type.Literal('person'),
  action: Type.Literal('add_device'),
  identifiers,
  device: Type.Object({
    token: someText,
    platform: Type.Enum(['ios', 'android']),
    last_used: Type.Optional(epochSeconds),
  }),
});

const object = Type.Object({
  type: Type.Literal('object'),
  action: Type.Literal('identify'),
  identifiers: Type.Object({ object_type_id: Type.String({ pattern: String.raw`^\d+$` }), object_id: someText }),
  attributes: Type.Object({}),
  cio_relationships: Type.Optional(Type.Array(Type.Object({ identifiers }))),
});

const event = Type.Object({
  type: Type.Literal('person'),
  action: Type.Enum(['event', 'page', 'screen']),
  identifiers,
  id: Type.String({ pattern: '^[0-9A-HJKMNP-TV-Z]{26}$' }),
  name: someText,
  timestamp: epochSeconds,
  attributes: Type.Object({}),
});

/** Track API, version 2: a 207 lists the refused rows. https://docs.customer.io/integrations/api/track/#tag/track_v2 */
export const customerioPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/api/v2/batch',
      credentials: inHeader('authorization', /^Basic \S+$/),
      content: 'json',
      body: Type.Object({ batch: anyRows }),
      rows: [
        {
          at: 'batch',
          schema: Type.Union([identify, event, device, object]),
          check: (row) =>
            Buffer.byteLength(JSON.stringify(row)) > 32_768
              ? { field: '', message: 'is larger than 32 kB' }
              : undefined,
        },
      ],
      bytesMax: 500_000,
    },
  ],
  answers: {
    success: () => ({ status: 200, body: {} }),
    partial: (verdicts) => ({
      status: 207,
      body: {
        errors: verdicts.flatMap(({ problem }, index) =>
          problem === undefined
            ? []
            : { batch_index: index, reason: 'invalid', field: problem.field || 'name', message: problem.message },
        ),
      },
    }),
    refusal: ({ field, message }) => ({
      status: 400,
      body: { errors: [{ reason: 'invalid', field: field || 'batch', message }] },
    }),
    throttled: { status: 429, body: { meta: { error: 'too many requests' } } },
    endedToken: { status: 401, body: { meta: { error: 'unauthorized' } } },
    tooLarge: { status: 413, body: { errors: [{ reason: 'request_too_large', message: 'over 500kb' }] } },
  },
});
