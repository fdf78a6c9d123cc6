import { Type } from 'typebox';
import { definePlatform, noCredentials } from '../sdk/platform.ts';
import { currencyCode, someText, webAddress } from '../sdk/platform-schemas.ts';

const event = Type.Object({
  domain: Type.String({ pattern: '^[^/ ]+$' }),
  name: Type.String({ minLength: 1, maxLength: 120 }),
  url: webAddress,
  referrer: Type.Optional(someText),
  props: Type.Optional(Type.Object({}, { maxProperties: 30 })),
  revenue: Type.Optional(Type.Object({ currency: currencyCode, amount: Type.Number() })),
});

/** Plausible's Events API: one event per request, without credentials. https://plausible.io/docs/events-api */
export const plausiblePlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/api/event',
      credentials: noCredentials,
      headers: { 'user-agent': /\S/, 'content-type': /json/ },
      content: 'json',
      body: event,
    },
  ],
  answers: {
    success: () => ({ status: 202, body: 'ok' }),
    refusal: ({ field, message }) => ({ status: 400, body: { errors: { [field || 'request']: [message] } } }),
    throttled: { status: 429, headers: { 'retry-after': '7' } },
    endedToken: { status: 401 },
  },
});
