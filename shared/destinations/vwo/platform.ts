import { Type } from 'typebox';
import { definePlatform, inQuery } from '../sdk/platform.ts';
import { epochMs, epochSeconds, someText } from '../sdk/platform-schemas.ts';

/** Events of VWO. The account ID in the query is the only credential. */
export const vwoPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/events/t',
      credentials: inQuery('a', /^[0-9]+$/),
      headers: { 'user-agent': /./ },
      query: Type.Object({ en: someText }),
      content: 'json',
      body: Type.Object({
        d: Type.Object({
          msgId: someText,
          visId: someText,
          sessionId: epochSeconds,
          event: Type.Object({
            name: someText,
            time: epochMs,
            props: Type.Object({ isCustomEvent: Type.Literal(true), vwoMeta: Type.Object({}), page: Type.Object({}) }),
          }),
        }),
      }),
    },
  ],
  answers: {
    success: () => ({ status: 200 }),
    refusal: ({ field, message }) => ({ status: 400, body: `${field} ${message}` }),
    throttled: { status: 429 },
    endedToken: { status: 401 },
  },
});
