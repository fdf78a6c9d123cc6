import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  contextFields,
  distinctIdField,
  eventField,
  eventPropertiesFields,
  identityFields,
  nullableUserPropertiesField,
  timeField,
  tokenField,
} from './payload-fields.ts';

/** One row of a batch: a track payload without a token of its own, with an id of its own. Unknown keys are kept. */
export const BatchRow = Type.Object({
  event: eventField,
  distinctId: distinctIdField,
  ...identityFields,
  time: Type.Optional(timeField),
  ...eventPropertiesFields,
  userProperties: Type.Optional(nullableUserPropertiesField),
  ...contextFields,
});

export type BatchRow = Static<typeof BatchRow>;

export const batchRow = Compile(BatchRow);

/** Body of `POST /api/v1/batch`. Rows are checked one by one, so here they may be anything. */
export const BatchPayload = Type.Object({
  token: tokenField,
  events: Type.Array(Type.Unknown(), { description: 'must be an array' }),
  ...contextFields,
});

export type BatchPayload = Static<typeof BatchPayload>;

export const batchPayload = Compile(BatchPayload);
