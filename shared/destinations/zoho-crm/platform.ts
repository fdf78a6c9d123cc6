import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import type { RowVerdict } from '../sdk/platform.ts';
import { anyRows, someText } from '../sdk/platform-schemas.ts';

const record = Type.Object({
  Email: Type.String({ pattern: '^[^@ ]+@[^@ ]+$' }),
  // Zoho requires the last name only of a new record.
  Last_Name: Type.Optional(someText),
  First_Name: Type.Optional(someText),
  Phone: Type.Optional(Type.String({ maxLength: 30 })),
  Company: Type.Optional(someText),
});

const rowsAnswer = (verdicts: readonly RowVerdict[]) => ({
  status: verdicts.every(({ problem }) => problem === undefined) ? 200 : 207,
  body: {
    data: verdicts.map(({ problem }) =>
      problem === undefined
        ? { code: 'SUCCESS', status: 'success', action: 'insert', details: { id: '111' }, message: 'record added' }
        : {
            code: problem.message === 'is required' ? 'MANDATORY_NOT_FOUND' : 'INVALID_DATA',
            status: 'error',
            details: { api_name: problem.field },
            message: problem.message,
          },
    ),
  },
});

const failure = (status: number, code: string, message: string) => ({
  status,
  body: { code, details: {}, message, status: 'error' },
});

/**
 * Upsert of records: the response has a result for each.
 * https://www.zoho.com/crm/developer/docs/api/v8/upsert-records.html
 */
export const zohoCrmPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/crm/v8/{module}/upsert',
      credentials: inHeader('authorization', /^Zoho-oauthtoken \S+$/),
      content: 'json',
      body: Type.Object({
        data: anyRows,
        duplicate_check_fields: Type.Array(someText),
        trigger: Type.Optional(Type.Array(someText)),
      }),
      rows: [{ at: 'data', schema: record }],
      rowsMax: 100,
    },
  ],
  answers: {
    success: (rows) => rowsAnswer(rows.map((row) => ({ row, problem: undefined }))),
    partial: rowsAnswer,
    refusal: ({ field, message }) => failure(400, 'INVALID_DATA', `${field} ${message}`),
    throttled: failure(429, 'TOO_MANY_REQUESTS', 'too many requests are fired with in a minute.'),
    endedToken: failure(401, 'INVALID_TOKEN', 'invalid oauth token'),
    tooLarge: failure(413, 'REQUEST_ENTITY_TOO_LARGE', 'the request is too large'),
    unavailable: failure(500, 'INTERNAL_ERROR', 'Internal Server Error'),
  },
});
