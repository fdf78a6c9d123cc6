import { Type } from 'typebox';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import type { PlatformProblem, ScriptedAnswer } from '../sdk/platform.ts';
import { anyRows, currencyCode, epochSeconds, hashedPerson, partly, someText } from '../sdk/platform-schemas.ts';
import { facebookActionSources } from './payload.ts';

const userData = partly({
  ...hashedPerson,
  client_ip_address: someText,
  client_user_agent: someText,
  fbc: Type.String({ pattern: String.raw`^fb\.\d\.\d+\..+` }),
  fbp: Type.String({ pattern: String.raw`^fb\.\d\.\d+\..+` }),
  lead_id: someText,
  madid: someText,
  ctwa_clid: someText,
  page_id: someText,
  page_scoped_user_id: someText,
  ig_account_id: someText,
  ig_sid: someText,
  whatsapp_business_account_id: someText,
  partner_id: someText,
  partner_name: someText,
});

const appData = Type.Object({
  advertiser_tracking_enabled: Type.Enum([0, 1]),
  application_tracking_enabled: Type.Enum([0, 1]),
  extinfo: Type.Array(Type.String(), { minItems: 16, maxItems: 16 }),
});

const customData = Type.Partial(
  Type.Object({
    value: Type.Number(),
    currency: currencyCode,
    order_id: someText,
    content_ids: Type.Array(someText),
    contents: Type.Array(Type.Object({ id: someText, quantity: Type.Integer() })),
    num_items: Type.Integer(),
  }),
);

const row = Type.Object({
  event_name: someText,
  event_time: epochSeconds,
  event_id: Type.Optional(someText),
  action_source: Type.Enum([...facebookActionSources]),
  messaging_channel: Type.Optional(Type.Enum(['whatsapp', 'messenger', 'instagram'])),
  user_data: userData,
  custom_data: Type.Optional(customData),
  app_data: Type.Optional(appData),
});

function checkRow(given: unknown): PlatformProblem | undefined {
  const {
    event_name: name,
    action_source: source,
    app_data: app,
    custom_data: data,
    messaging_channel: channel,
  } = given as JsonObject;
  if (source === 'app' && app === undefined) return { field: 'app_data', message: 'is required for events of apps' };
  if (source === 'business_messaging' && channel === undefined) {
    return { field: 'messaging_channel', message: 'is required for conversations' };
  }
  if (name !== 'Purchase') return undefined;
  const missing = ['value', 'currency'].find((field) => !isJsonObject(data) || data[field] === undefined);
  return missing === undefined ? undefined : { field: `custom_data.${missing}`, message: 'is required for purchases' };
}

/**
 * The Graph API's endpoint for conversions, which accepts all rows or none, and reports an error as a code.
 * https://developers.facebook.com/docs/graph-api/guides/error-handling
 */
export const facebookPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/v{version}/{pixel}/events',
      credentials: inHeader(),
      content: 'json',
      body: Type.Object({ data: anyRows, test_event_code: Type.Optional(someText) }),
      rows: [{ at: 'data', schema: row, check: checkRow }],
      rowsMax: 1_000,
    },
  ],
  answers: {
    success: (rows) => ({
      status: 200,
      body: { events_received: rows.length, messages: [], fbtrace_id: 'AbCdEfGh' },
    }),
    refusal: ({ field, message }) =>
      failure(400, { code: 100, error_subcode: 2_804_003, message: `Invalid parameter: ${field} ${message}` }),
    throttled: failure(400, { code: 4, message: 'Application request limit reached', is_transient: true }),
    endedToken: failure(401, { code: 190, error_subcode: 463, message: 'Error validating access token' }),
    unavailable: failure(503, { code: 2, message: 'Service temporarily unavailable', is_transient: true }),
  },
});

function failure(status: number, error: Readonly<Record<string, unknown>>): ScriptedAnswer {
  return { status, body: { error: { type: 'OAuthException', fbtrace_id: 'AbCdEfGh', ...error } } };
}
