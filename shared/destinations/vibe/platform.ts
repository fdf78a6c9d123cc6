import { Type } from 'typebox';
import { definePlatform, inBody } from '../sdk/platform.ts';
import { platformEvents } from '../sdk/platform-events.ts';
import { epochMs, oneOf, someText, webAddress } from '../sdk/platform-schemas.ts';

const { names, others } = platformEvents.Vibe;

/** Conversions of Vibe, one per request. The pixel ID in the body is the only credential. */
export const vibePlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/s2s-conversion/events/{partner}',
      credentials: inBody('aid'),
      content: 'json',
      body: Type.Intersect([
        Type.Union([
          Type.Object({ ip: Type.String({ pattern: String.raw`^\d{1,3}(\.\d{1,3}){3}$` }) }),
          Type.Object({ em: Type.String({ pattern: '^[^@\\s]+@[^@\\s]+$' }) }),
        ]),
        Type.Object({
          a: oneOf(...Object.values(names), ...others),
          eid: someText,
          ts: epochMs,
          ed: Type.Optional(Type.String({ pattern: '^\\{.*\\}$' })),
          ua: Type.Optional(someText),
          url: Type.Optional(webAddress),
        }),
      ]),
    },
  ],
  answers: {
    success: () => ({ status: 200, body: { status: 'ok' } }),
    refusal: ({ field, message }) => ({ status: 400, body: { error: `${field} ${message}` } }),
    throttled: { status: 429 },
    endedToken: { status: 403 },
  },
});
