import { Type } from 'typebox';
import { definePlatform, noCredentials } from '../sdk/platform.ts';
import { epochMs, someText } from '../sdk/platform-schemas.ts';

const who = {
  project: someText,
  cookie: Type.String({ minLength: 1, maxLength: 64 }),
  timestamp: epochMs,
  cv_id: Type.Optional(someText),
  cv_email: Type.Optional(someText),
};

const common = { method: 'POST', credentials: noCredentials, content: 'json' } as const;
const event = Type.Object({ ...who, event: someText });

/** HTTP tracking: one event or visitor per request. https://docs.woopra.com/reference/intro-http-tracking */
export const woopraPlatform = definePlatform({
  endpoints: [
    { ...common, path: '/track/ce', body: event },
    { ...common, path: '/track/ce/', body: event },
    { ...common, path: '/track/identify', body: Type.Object(who) },
    { ...common, path: '/track/identify/', body: Type.Object(who) },
  ],
  answers: {
    success: () => ({ status: 202, body: { success: true } }),
    refusal: ({ field, message }) => ({ status: 400, body: { success: false, error: `${field} ${message}` } }),
    throttled: { status: 429, headers: { 'retry-after': '7' } },
    endedToken: { status: 403 },
  },
});
