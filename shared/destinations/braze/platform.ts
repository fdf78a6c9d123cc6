import { Type } from 'typebox';
import { definePlatform, inHeader } from '../sdk/platform.ts';
import { anyRows, instant, someText } from '../sdk/platform-schemas.ts';

const ids = {
  external_id: Type.Optional(someText),
  email: Type.Optional(someText),
  user_alias: Type.Optional(Type.Object({ alias_name: someText, alias_label: someText })),
};

const event = Type.Object({
  ...ids,
  name: Type.String({ minLength: 1, maxLength: 255 }),
  time: instant,
  properties: Type.Optional(Type.Object({})),
});

function unnamed(row: unknown) {
  const isNamed = ['external_id', 'email', 'user_alias', 'braze_id'].some((name) => name in (row as object));
  return isNamed ? undefined : { field: '', message: 'names no user' };
}

/** Tracking of users: 201 with `errors` for the rows that were not taken. https://www.braze.com/docs/api/endpoints/user_data/post_user_track */
export const brazePlatform = definePlatform({
  endpoints: [
    {
      method: 'POST',
      path: '/users/track',
      credentials: inHeader(),
      content: 'json',
      body: Type.Object({ attributes: Type.Optional(anyRows), events: Type.Optional(anyRows) }),
      rows: [
        { at: 'attributes', schema: Type.Object(ids), check: unnamed },
        { at: 'events', schema: event, check: unnamed },
      ],
      rowsMax: 75,
    },
  ],
  answers: {
    success: (rows) => ({ status: 201, body: { message: 'success', events_processed: rows.length } }),
    partial: (verdicts) => ({
      status: 201,
      body: {
        message: 'success',
        errors: verdicts.flatMap(({ row, problem }, place) => {
          if (problem === undefined) return [];
          const list = isEvent(row) ? 'events' : 'attributes';
          const before = verdicts.slice(0, place).filter((other) => isEvent(other.row) === isEvent(row));
          return [{ type: problem.message, input_array: list, index: before.length }];
        }),
      },
    }),
    refusal: ({ field, message }) => ({ status: 400, body: { message: `${field} ${message}` } }),
    throttled: { status: 429, headers: { 'retry-after': '7' }, body: { message: 'Rate limit exceeded' } },
    endedToken: { status: 401, body: { message: 'Invalid API key' } },
    tooLarge: { status: 413, body: { message: 'Payload too large' } },
  },
});

const isEvent = (row: unknown): boolean => 'name' in (row as object) && 'time' in (row as object);
