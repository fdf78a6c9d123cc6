import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import type { PlatformEndpoint } from '../sdk/platform.ts';
import { platformEvents } from '../sdk/platform-events.ts';
import {
  anyRows,
  currencyCode,
  epochSeconds,
  oneOf,
  partly,
  sha256Hex,
  someText,
  webAddress,
} from '../sdk/platform-schemas.ts';

const { names, others } = platformEvents.RokuCAPI;

const row = Type.Object({
  event_name: oneOf(...new Set<string>([...Object.values(names), ...others])),
  event_type: Type.Literal('conversion'),
  event_source: oneOf('website', 'app', 'phone_call', 'physical_store'),
  event_time: epochSeconds,
  event_id: someText,
  event_source_url: Type.Optional(webAddress),
  opt_out: Type.Optional(oneOf('true', 'false')),
  user_data: partly({
    is_hashed: Type.Literal(true),
    em: sha256Hex,
    ph: sha256Hex,
    fn: sha256Hex,
    ln: sha256Hex,
    aRI: someText,
    client_ip_address: someText,
    client_user_agent: someText,
  }),
  custom_data: Type.Optional(
    Type.Object({ value: Type.Optional(Type.Number()), currency: Type.Optional(currencyCode) }),
  ),
});

const events = {
  method: 'POST',
  credentials: inHeader(),
  content: 'json',
  body: Type.Object({ event_group_id: someText, events: anyRows }),
  rows: [{ at: 'events', schema: row }],
  rowsMax: 1_000,
  bytesMax: 1_000_000,
} as const satisfies Omit<PlatformEndpoint, 'path'>;

/**
 * Events and test events of Roku, which accepts all rows or none.
 * https://help.ads.roku.com/en/articles/8880744-events-api
 */
export const rokuCapiPlatform = definePlatform({
  endpoints: [
    { ...events, path: '/v1/events' },
    { ...events, path: '/v1/test_events' },
  ],
  answers: {
    success: (rows) => ({ status: 200, body: { code: 200, events_received: rows.length } }),
    refusal: ({ field, message }) => ({ status: 400, body: { code: 400, message: `${field} ${message}` } }),
    throttled: { status: 429 },
    endedToken: { status: 401, body: { code: 401, message: 'Unauthorized' } },
  },
});
