import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import {
  contextFields,
  eventField,
  eventPropertiesFields,
  identityFields,
  nullableDistinctIdField,
  nullableUserPropertiesField,
  timeField,
  tokenField,
} from './payload-fields.ts';

/** Body of `POST /api/v1/track`. Unknown keys are kept. */
export const TrackPayload = Type.Object({
  token: tokenField,
  event: eventField,
  ...identityFields,
  time: Type.Optional(timeField),
  distinctId: Type.Optional(nullableDistinctIdField),
  ...eventPropertiesFields,
  userProperties: Type.Optional(nullableUserPropertiesField),
  ...contextFields,
});

export type TrackPayload = Static<typeof TrackPayload>;

export const trackPayload = Compile(TrackPayload);
