import { Type } from 'typebox';

/** The fields of ingest payloads, each with its rule in words: what an answer to a caller says of it. Lengths are in characters. */

/** Longest texts of an event's own fields. */
export const textCharactersMax = {
  token: 250,
  event: 1000,
  userId: 400,
  externalId: 400,
  email: 1000,
  distinctId: 400,
} as const;

const text = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, description: `must be a string of 1 to ${maxLength} characters` });

const nullableText = (maxLength: number) =>
  Type.Union([text(maxLength), Type.Null()], {
    description: `must be a string of 1 to ${maxLength} characters or null`,
  });

const nullableObject = () => Type.Union([Type.Object({}), Type.Null()], { description: 'must be an object or null' });

/** May be empty: an empty visitor property is ignored, not refused. */
const propertyText = () =>
  Type.Union([Type.String({ maxLength: 2000 }), Type.Null()], {
    description: 'must be a string of at most 2000 characters or null',
  });

/** Visitor properties with a meaning of their own; all others are kept as they are. */
export const wellKnownTextProperties = [
  'email',
  'first_name',
  'last_name',
  'gender',
  'date_of_birth',
  'phone_number',
  'city',
  'state',
  'zip',
  'country',
  'external_id',
  'company_name',
  'job_title',
  'ip',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_term',
  'utm_content',
  'fbclid',
  'gclid',
  'ttclid',
  'msclkid',
] as const;

const visitorProperties = () =>
  Type.Object(
    {
      ...Object.fromEntries(wellKnownTextProperties.map((name) => [name, Type.Optional(propertyText())])),
      consent: Type.Optional(nullableObject()),
      custom_properties: Type.Optional(nullableObject()),
    },
    { description: 'must be an object' },
  );

export const tokenField = text(textCharactersMax.token);
export const eventField = text(textCharactersMax.event);
export const distinctIdField = text(textCharactersMax.distinctId);
export const nullableDistinctIdField = nullableText(textCharactersMax.distinctId);
export const timeField = Type.Union([Type.Number(), Type.Null()], {
  description: 'must be a number of milliseconds since 1970 or null',
});
export const userPropertiesField = visitorProperties();
export const nullableUserPropertiesField = Type.Union([visitorProperties(), Type.Null()], {
  description: 'must be an object or null',
});

/** Who an event is about. */
export const identityFields = {
  userId: Type.Optional(nullableText(textCharactersMax.userId)),
  externalId: Type.Optional(nullableText(textCharactersMax.externalId)),
  email: Type.Optional(nullableText(textCharactersMax.email)),
};

/** What surrounds an event; allowed beside every payload and at the top of a batch, for all of its rows. */
export const contextFields = {
  custom_properties: Type.Optional(nullableObject()),
  defaultProperties: Type.Optional(nullableObject()),
  identityContext: Type.Optional(
    Type.Union(
      [Type.Object({ ip: Type.Optional(propertyText()), userAgent: Type.Optional(propertyText()) }), Type.Null()],
      { description: 'must be an object with ip and userAgent, or null' },
    ),
  ),
};

export const eventPropertiesFields = {
  eventProperties: Type.Optional(nullableObject()),
  properties: Type.Optional(nullableObject()),
};

/** How far an event's own time may lie from now, in ms. */
export type TimeWindow = { readonly pastMsMax: number; readonly aheadMsMax: number };

/** Whether an event may carry this time. Absent means now, and is fine. */
export function isWithinWindow(time: number | null | undefined, nowMs: number, window: TimeWindow): boolean {
  if (time === undefined || time === null) return true;
  // A number too large for a double arrives as Infinity and fails both ways.
  return time >= nowMs - window.pastMsMax && time <= nowMs + window.aheadMsMax;
}
