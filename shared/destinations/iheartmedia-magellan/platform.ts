import { Type } from 'typebox';
import { definePlatform, inBody } from '../sdk/platform.ts';
import { platformEvents } from '../sdk/platform-events.ts';
import { currencyCode, someText, webAddress } from '../sdk/platform-schemas.ts';

const client = { ip: someText, ua: someText, url: Type.Optional(webAddress), ref: Type.Optional(webAddress) };
const money = { value: Type.Number(), currency: currencyCode };
const actions = [...new Set<string>(Object.values(platformEvents.IHeartMediaMagellan.names))];

/** Events of Magellan AI: each action has its own path; the token of the pixel is in the body. */
export const iHeartMediaMagellanPlatform = definePlatform({
  endpoints: actions.map((action) => ({
    method: 'POST',
    path: `/${action}`,
    credentials: inBody('token', /^[0-9a-f]{32}$/),
    content: 'json',
    body: Type.Object(action === 'view' ? client : { ...client, ...money }),
  })),
  answers: {
    success: () => ({ status: 200 }),
    refusal: ({ field, message }) => ({ status: 400, body: { error: `${field} ${message}` } }),
    throttled: { status: 429 },
    endedToken: { status: 403 },
  },
});
