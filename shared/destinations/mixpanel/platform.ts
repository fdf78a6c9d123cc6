import { Type } from 'typebox';
import { definePlatform, inHeader, noCredentials } from '../sdk/platform.ts';
import type { RowVerdict } from '../sdk/platform.ts';
import { anyRows, epochMs, someText } from '../sdk/platform-schemas.ts';

const tracked = Type.Object({
  event: someText,
  properties: Type.Object({
    time: epochMs,
    distinct_id: Type.String(),
    $insert_id: Type.String({ pattern: '^[A-Za-z0-9-]{1,36}$' }),
  }),
});

// A merge of two ids in a project with original ID merge: https://docs.mixpanel.com/reference/identity-merge
const merge = Type.Object({
  event: Type.Literal('$merge'),
  properties: Type.Object({ $distinct_ids: Type.Array(someText, { minItems: 2, maxItems: 2 }) }),
});
const alias = Type.Object({
  event: Type.Literal('$create_alias'),
  properties: Type.Object({ distinct_id: someText, alias: someText, token: someText }),
});
const event = Type.Union([merge, alias, tracked]);

const groupUpdate = Type.Object({
  $token: someText,
  $group_key: someText,
  $group_id: someText,
  $set: Type.Object({}),
});

const ways = {
  $set: Type.Object({}),
  $set_once: Type.Object({}),
  $add: Type.Record(Type.String(), Type.Number()),
  $union: Type.Record(Type.String(), Type.Array(Type.Unknown())),
  $append: Type.Object({}),
};

/** A profile update, with exactly one operation: https://docs.mixpanel.com/reference/profile-batch-update */
const update = Type.Union(
  Object.entries(ways).map(([name, members]) =>
    Type.Object({ $token: someText, $distinct_id: someText, [name]: members }, { additionalProperties: false }),
  ),
);

/**
 * Events and profiles of Mixpanel. `/import?strict=1` accepts the valid rows and lists the others,
 * https://docs.mixpanel.com/reference/import-events; `/engage` accepts all rows or none,
 * https://docs.mixpanel.com/reference/profile-set.
 */
export const mixpanelPlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/import',
      credentials: inHeader('authorization', /^Basic \S+$/),
      query: Type.Object({ strict: Type.Literal('1') }),
      content: 'json',
      body: anyRows,
      rows: [{ at: '', schema: event }],
      rowsMax: 2_000,
      bytesMax: 10 * 1_024 * 1_024,
      answers: { partial },
    },
    {
      method: 'POST',
      path: '/groups',
      credentials: noCredentials,
      content: 'json',
      body: anyRows,
      rows: [{ at: '', schema: groupUpdate }],
      rowsMax: 200,
      answers: {
        success: () => ({ status: 200, body: { status: 1, error: null } }),
        refusal: ({ field, message }) => ({ status: 400, body: { status: 0, error: `${field} ${message}` } }),
      },
    },
    {
      method: 'POST',
      path: '/engage',
      credentials: noCredentials,
      content: 'json',
      body: anyRows,
      rows: [{ at: '', schema: update }],
      rowsMax: 2_000,
      answers: {
        success: () => ({ status: 200, body: { status: 1, error: null } }),
        refusal: ({ field, message }) => ({ status: 400, body: { status: 0, error: `${field} ${message}` } }),
      },
    },
  ],
  answers: {
    success: (rows) => ({ status: 200, body: { code: 200, num_records_imported: rows.length, status: 'OK' } }),
    refusal: ({ field, message }) => ({
      status: 400,
      body: { code: 400, error: `${field} ${message}`, status: 'Bad Request' },
    }),
    throttled: { status: 429, body: { code: 429, error: 'Project exceeded rate limits', status: 'Too Many Requests' } },
    endedToken: { status: 401, body: { code: 401, error: 'Invalid credentials', status: 'Unauthorized' } },
    tooLarge: {
      status: 413,
      body: { code: 413, error: 'request exceeds max limit', status: 'Request Entity Too Large' },
    },
  },
});

function partial(verdicts: readonly RowVerdict[]) {
  const failed = verdicts.flatMap(({ problem }, index) =>
    problem === undefined ? [] : { index, $insert_id: '', field: problem.field || 'event', message: problem.message },
  );
  return {
    status: 400,
    body: {
      code: 400,
      error: 'some data points in the request failed validation',
      failed_records: failed,
      num_records_imported: verdicts.length - failed.length,
      status: 'Bad Request',
    },
  };
}
