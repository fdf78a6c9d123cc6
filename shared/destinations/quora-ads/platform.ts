import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import type { RowVerdict } from '../sdk/platform.ts';
import { platformEvents } from '../sdk/platform-events.ts';
import { anyRows, oneOf, partly, someText } from '../sdk/platform-schemas.ts';

const { names, others } = platformEvents.QuoraAds;

const row = Type.Object({
  conversion: Type.Object({
    event_name: oneOf(...Object.values(names), ...others),
    // Microseconds; the minimum refuses a number of ms, which would be a time in 1970.
    timestamp: Type.Integer({ minimum: 1_000_000_000_000_000 }),
    event_id: someText,
    click_id: Type.Optional(someText),
    value: Type.Optional(Type.Number()),
  }),
  user: Type.Optional(
    partly({
      email: Type.String({ pattern: '@' }),
      phone_number: someText,
      ip: someText,
      country: Type.String({ pattern: '^[A-Z]{2}$' }),
      region: someText,
      city: someText,
      postal_code: someText,
    }),
  ),
  device: Type.Optional(
    partly({ mobile_device_id: someText, user_agent: someText, language: someText, referer: someText }),
  ),
});

/** Conversions of Quora: a 200 has a result for each row. */
export const quoraAdsPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/ads/v0/conversions',
      credentials: inHeader(),
      content: 'json',
      body: Type.Object({ account_id: Type.Integer(), data: anyRows }),
      rows: [{ at: 'data', schema: row }],
      rowsMax: 1_000,
    },
  ],
  answers: {
    success: (rows) => report(rows.map((given) => ({ row: given, problem: undefined }))),
    partial: report,
    refusal: ({ field, message }) => ({ status: 400, body: { error: `${field} ${message}` } }),
    throttled: { status: 429 },
    endedToken: { status: 401, body: { error: 'Invalid access token' } },
  },
});

function report(verdicts: readonly RowVerdict[]) {
  const events = verdicts.map(({ problem }, index) =>
    problem === undefined
      ? { index, status: 'OK' }
      : {
          index,
          status: 'ERROR',
          error_code: 'INVALID_PARAMETER',
          error_message: `${problem.field} ${problem.message}`,
        },
  );
  const errored = events.filter(({ status }) => status !== 'OK').length;
  return { status: 200, body: { events_received: events.length, events_errored: errored, events } };
}
