import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { contextFields, identityFields, tokenField, userPropertiesField } from './payload-fields.ts';

/** Body of `POST /api/v1/identify`. Unknown keys are kept. */
export const IdentifyPayload = Type.Object({
  token: tokenField,
  userProperties: userPropertiesField,
  ...identityFields,
  ...contextFields,
});

export type IdentifyPayload = Static<typeof IdentifyPayload>;

export const identifyPayload = Compile(IdentifyPayload);
