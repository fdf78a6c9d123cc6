import { Type } from 'typebox';
import { isJsonObject } from '../../runtime/json.ts';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import type { PlatformEndpoint, RowVerdict } from '../sdk/platform.ts';
import { anyRows, instant, someText, uuidText } from '../sdk/platform-schemas.ts';

const address = Type.Optional(Type.String({ maxLength: 1_024 }));

const event = Type.Object({
  eventName: Type.String({ pattern: String.raw`^pe\d+_[a-z0-9_]+$` }),
  email: Type.Optional(someText),
  utk: Type.Optional(someText),
  occurredAt: instant,
  uuid: uuidText,
  properties: Type.Object(
    { hs_page_url: address, hs_url: address, hs_referrer: address },
    { additionalProperties: Type.String({ maxLength: 256 }), maxProperties: 50 },
  ),
});

const record = {
  objectWriteTraceId: someText,
  properties: Type.Record(Type.String(), Type.String()),
};
const emailText = Type.String({ pattern: '^[^@ ]+@[^@ ]+$' });
const contact = Type.Union([
  Type.Object({ idProperty: Type.Literal('email'), id: emailText, ...record }),
  Type.Object({ idProperty: Type.String({ pattern: '^(?!email$)[a-z][a-z0-9_]*$' }), id: someText, ...record }),
]);
const association = Type.Object({
  from: Type.Object({ id: Type.String({ pattern: '^\\d+$' }) }),
  to: Type.Object({ id: Type.String({ pattern: '^\\d+$' }) }),
});

const company = Type.Object({
  idProperty: someText,
  id: someText,
  objectWriteTraceId: someText,
  properties: Type.Record(Type.String(), Type.String()),
});

const body = Type.Object({ inputs: anyRows });
const common = { method: 'POST', credentials: inHeader(), content: 'json', body } as const;
const events: Omit<PlatformEndpoint, 'path'> = {
  ...common,
  rows: [{ at: 'inputs', schema: event }],
  rowsMax: 500,
  answers: { success: () => ({ status: 204 }) },
};
const contacts: Omit<PlatformEndpoint, 'path'> = {
  ...common,
  rows: [{ at: 'inputs', schema: contact }],
  rowsMax: 100,
  answers: { partial },
};

/**
 * HubSpot accepts the valid contacts of a batch, but all events of a batch or none.
 * https://developers.hubspot.com/docs/api-reference/legacy/events/send-event-data/guide
 */
export const hubspotPlatform = definePlatform({
  endpoints: [
    { ...events, path: '/events/{version}/send/batch' },
    { ...contacts, path: '/crm/objects/{version}/contacts/batch/upsert' },
    {
      ...contacts,
      path: '/crm/objects/{version}/companies/batch/upsert',
      rows: [{ at: 'inputs', schema: company }],
    },
    {
      ...common,
      path: '/crm/associations/{version}/contacts/companies/batch/associate/default',
      rows: [{ at: 'inputs', schema: association }],
      rowsMax: 100,
    },
  ],
  answers: {
    success: (rows) => ({ status: 200, body: { status: 'COMPLETE', results: written(rows) } }),
    refusal: ({ field, message }) => failure(400, 'VALIDATION_ERROR', `${field} ${message}`),
    throttled: { ...failure(429, 'RATE_LIMITS', 'You have reached your limit.'), headers: { 'retry-after': '7' } },
    endedToken: failure(401, 'EXPIRED_AUTHENTICATION', 'The OAuth token used to make this call expired.'),
  },
});

function partial(verdicts: readonly RowVerdict[]) {
  const errors = verdicts.flatMap(({ row, problem }) =>
    problem === undefined || !isJsonObject(row)
      ? []
      : [
          {
            status: 'error',
            category: 'VALIDATION_ERROR',
            message: problem.message,
            context: { objectWriteTraceId: [row['objectWriteTraceId']] },
          },
        ],
  );
  const results = written(verdicts.flatMap(({ row, problem }) => (problem === undefined ? [row] : [])));
  return { status: 207, body: { status: 'COMPLETE', numErrors: errors.length, results, errors } };
}

/** The written records, with their properties. */
function written(rows: readonly unknown[]) {
  return rows.map((row, index) => ({ ...(row as object), id: String(101 + index) }));
}

function failure(status: number, category: string, message: string) {
  return { status, body: { status: 'error', category, message, correlationId: '00000000' } };
}
