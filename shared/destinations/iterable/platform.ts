import { Type } from 'typebox';
import { isJsonObject } from '../../runtime/json.ts';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import type { RowVerdict } from '../sdk/platform.ts';
import { anyRows, epochSeconds, someText } from '../sdk/platform-schemas.ts';

const who = { email: Type.Optional(someText), userId: Type.Optional(someText) };
const event = Type.Object({
  ...who,
  eventName: someText,
  id: Type.Optional(someText),
  createdAt: epochSeconds,
  campaignId: Type.Optional(Type.Integer()),
  templateId: Type.Optional(Type.Integer()),
  dataFields: Type.Object({}),
});
const user = Type.Object({
  ...who,
  preferUserId: Type.Optional(Type.Boolean()),
  mergeNestedObjects: Type.Optional(Type.Boolean()),
  dataFields: Type.Object({}),
});
/**
 * A user that the request creates if it is new:
 * https://support.iterable.com/hc/en-us/articles/29156459027348-Creating-and-Identifying-Users-with-Iterable-APIs
 */
const buyer = Type.Object(
  { ...who, preferUserId: Type.Optional(Type.Boolean()) },
  { dependentRequired: { userId: ['preferUserId'] } },
);
const purchase = Type.Object({
  id: someText,
  user: buyer,
  items: Type.Array(Type.Object({ id: someText, name: someText, price: Type.Number(), quantity: Type.Number() }), {
    minItems: 1,
  }),
  total: Type.Number(),
  createdAt: epochSeconds,
});

const credentials = inHeader('api-key', /^\S+$/);
const common = { method: 'POST', credentials, content: 'json', bytesMax: 4 * 1_024 * 1_024 } as const;

/** The problem of a row that has neither or both of `email` and `userId`. */
function check(row: unknown) {
  const given = isJsonObject(row) ? [row['email'], row['userId']].filter((id) => id !== undefined) : [];
  return given.length === 1 ? undefined : { field: 'email', message: 'or userId is required, and not both' };
}

const taken = (rows: readonly unknown[]) => ({
  status: 200,
  body: { successCount: rows.length, failCount: 0, failedUpdates: {}, disallowedEventNames: [] },
});

/** Iterable's response to a bulk request in which some rows failed. */
function partial(verdicts: readonly RowVerdict[]) {
  const failed = verdicts.flatMap(({ row, problem }) =>
    problem === undefined || !isJsonObject(row) ? [] : [row['email'] ?? row['userId']],
  );
  return {
    status: 200,
    body: {
      successCount: verdicts.length - failed.length,
      failCount: failed.length,
      failedUpdates: { invalidEmails: failed },
      disallowedEventNames: [],
    },
  };
}

const emailAddress = Type.String({ pattern: '^[^@\\s]+@[^@\\s]+$' });

/** Iterable: a 200 to a bulk request lists the users whose rows failed. https://api.iterable.com/api/docs */
export const iterablePlatform = definePlatform({
  endpoints: [
    {
      ...common,
      path: '/api/events/trackBulk',
      body: Type.Object({ events: anyRows }),
      rows: [{ at: 'events', schema: event, check }],
      rowsMax: 8_000,
      answers: { partial },
    },
    {
      ...common,
      path: '/api/users/bulkUpdate',
      body: Type.Object({ users: anyRows }),
      rows: [{ at: 'users', schema: user, check }],
      rowsMax: 1_000,
      answers: { partial },
    },
    {
      ...common,
      path: '/api/users/updateEmail',
      body: Type.Union([
        Type.Object({ currentEmail: emailAddress, newEmail: emailAddress }, { additionalProperties: false }),
        Type.Object({ currentUserId: someText, newEmail: emailAddress }, { additionalProperties: false }),
      ]),
    },
    { ...common, path: '/api/commerce/trackPurchase', body: purchase },
    {
      ...common,
      path: '/api/users/registerDeviceToken',
      body: Type.Object({
        ...who,
        preferUserId: Type.Optional(Type.Boolean()),
        device: Type.Object({
          token: someText,
          platform: Type.Enum(['APNS', 'APNS_SANDBOX', 'GCM']),
          applicationName: someText,
          dataFields: Type.Optional(Type.Object({})),
        }),
      }),
    },
    {
      ...common,
      path: '/api/commerce/updateCart',
      body: Type.Object({ user: buyer, items: purchase.properties.items }),
    },
  ],
  answers: {
    success: taken,
    refusal: ({ field, message }) => ({ status: 400, body: { code: 'BadParams', msg: `${field} ${message}` } }),
    throttled: { status: 429, headers: { 'retry-after': '7' }, body: { code: 'RateLimitExceeded', msg: 'limit' } },
    endedToken: { status: 401, body: { code: 'BadApiKey', msg: 'Invalid API key' } },
    tooLarge: { status: 413, body: { code: 'RequestEntityTooLarge', msg: 'too large' } },
  },
});
