import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { isJsonObject } from '../../runtime/json.ts';

/** How many externalIds an account may allow for one visitor. */
const externalIdsLimit = 10;
const blockedValuesMax = 500;
const blockedCharactersMax = 100;

/** How an account identifies its visitors. Not versioned: a change takes effect immediately. */
export const identitySettings = Type.Object(
  {
    emailIdentifies: Type.Boolean({
      description:
        'Whether an e-mail address identifies a visitor where an event has neither externalId nor userId. False: it is a ' +
        'property and nothing else. The order externalId, userId, e-mail address is fixed. Default: true.',
    }),
    externalIdsMax: Type.Integer({
      minimum: 1,
      maximum: externalIdsLimit,
      description:
        'How many externalIds a visitor may have. With 1, an event that names a second one on the same device is of another ' +
        'person. With more, an externalId that no visitor has is added to the visitor of the device, or of the first externalId ' +
        'of the event. Two visitors that have an externalId each stay two. Default: 1.',
    }),
    blockedValues: Type.Array(Type.String({ minLength: 1, maxLength: blockedCharactersMax }), {
      maxItems: blockedValuesMax,
      description:
        'Values that are not identifiers, beside the built-in ones (undefined, null, none, nan, true, false, 0, -1, unknown, anonymous, ' +
        'guest, test, [object Object], zeros, xxxxx, templates that were not filled in such as {{user.id}}, and the like). Upper and lower case, and spaces, brackets and quotes around a value ' +
        'make no difference. Events are accepted without them. Visitors that have one already keep it. Default: none.',
    }),
    publicKeysOverwrite: Type.Boolean({
      description:
        'Whether the keys of web, pixel, redirect and mobile sources, which every visitor of a page can read, may do what the keys ' +
        'of servers may: overwrite external_id, email and phone_number that a server source has set, and merge known people by an ' +
        'alias. What they set counts as set by a server. Default: false.',
    }),
  },
  { additionalProperties: false },
);

export type IdentitySettings = Static<typeof identitySettings>;

export const defaultIdentitySettings: IdentitySettings = {
  emailIdentifies: true,
  externalIdsMax: 1,
  blockedValues: [],
  publicKeysOverwrite: false,
};

const fields = Object.entries(identitySettings.properties).map(
  ([name, schema]) => [name as keyof IdentitySettings, Compile(schema)] as const,
);

/** Settings as they are stored or published, by this build or another one: a field it cannot read has its default. */
export function readIdentitySettings(stored: unknown): IdentitySettings {
  if (!isJsonObject(stored)) return defaultIdentitySettings;
  const known = fields.filter(([name, schema]) => schema.Check(stored[name])).map(([name]) => [name, stored[name]]);
  return { ...defaultIdentitySettings, ...(Object.fromEntries(known) as Partial<IdentitySettings>) };
}
