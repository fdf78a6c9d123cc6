import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { platformEvents } from '../sdk/platform-events.ts';
import {
  anyRows,
  currencyCode,
  instant,
  oneOf,
  partly,
  sha256Hex,
  sha256List,
  someText,
  webAddress,
} from '../sdk/platform-schemas.ts';

const { names, others } = platformEvents.Spotify;

const row = Type.Object({
  event_name: oneOf(...Object.values(names), ...others),
  event_id: someText,
  event_time: instant,
  action_source: oneOf('WEB', 'APP', 'OFFLINE'),
  opt_out_targeting: Type.Boolean(),
  event_source_url: Type.Optional(webAddress),
  event_details: Type.Optional(
    partly({ amount: Type.Number(), currency: currencyCode, content_name: someText, content_category: someText }),
  ),
  user_data: partly({
    hashed_emails: sha256List,
    hashed_phone_number: sha256Hex,
    ip_address: someText,
    device_id: someText,
  }),
});

/** Conversions of Spotify, which accepts all rows or none. https://developer.spotify.com/documentation/ads-api */
export const spotifyPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/capi-direct/events/',
      credentials: inHeader(),
      content: 'json',
      body: Type.Object({ conversion_events: Type.Object({ capi_connection_id: someText, events: anyRows }) }),
      rows: [
        {
          at: 'conversion_events.events',
          schema: row,
          check: (given, nowMs) =>
            isAhead(given, nowMs) ? { field: 'event_time', message: 'must be in the past' } : undefined,
        },
      ],
    },
  ],
  answers: {
    success: () => ({ status: 200, body: { message: 'SUCCESS' } }),
    refusal: ({ field, message }) => ({ status: 400, body: { message: `${field} ${message}` } }),
    throttled: { status: 429 },
    endedToken: { status: 401, body: { message: 'Unauthorized' } },
  },
});

const skewMs = 1_000;

function isAhead(row: unknown, nowMs: number): boolean {
  const time =
    typeof row === 'object' && row !== null && 'event_time' in row ? Date.parse(String(row.event_time)) : NaN;
  return time > nowMs + skewMs;
}
