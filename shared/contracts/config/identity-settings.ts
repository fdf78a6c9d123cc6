import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { isJsonObject } from '../../runtime/json.ts';

/** Maximum number of externalIds that an account may allow for one visitor. */
const externalIdsLimit = 10;
/** Maximum number of identifiers of one visitor, of all kinds together, in every account. */
const identifiersLimit = 1_000;
const blockedValuesMax = 500;
const blockedCharactersMax = 100;

export const identifierKinds = ['externalId', 'userId', 'email'] as const;

/** How an account identifies its visitors. Not versioned: a change takes effect immediately. */
export const identitySettings = Type.Object(
  {
    emailIdentifies: Type.Boolean({
      description:
        'Whether an e-mail address identifies a visitor, in the order that `priority` defines. False: it is only a property. ' +
        'Default: true.',
    }),
    externalIdsMax: Type.Integer({
      minimum: 1,
      maximum: externalIdsLimit,
      description:
        'How many externalIds a visitor may have. With 1, an event with a second one on the same device belongs to another ' +
        "person. With more, an externalId that no visitor has is added to the visitor of the device, or of the event's first " +
        'externalId. Two visitors that each have an externalId are not merged. Default: 1.',
    }),
    emailsMax: Type.Integer({
      minimum: 1,
      maximum: identifiersLimit,
      description:
        'How many e-mail addresses can identify one visitor. Another address is only a property. An anonymous ' +
        'visitor whose addresses would exceed the limit is not merged. Default: 1000, the limit of all identifiers of a visitor.',
    }),
    userIdsMax: Type.Integer({
      minimum: 1,
      maximum: identifiersLimit,
      description:
        'How many userIds a visitor may have: its own id and those of the anonymous visitors that were merged into it. The visitor of a ' +
        'additional device stays separate, with its history; the device is signed in as the person, so that its later events belong to ' +
        'the person until another person signs in on it. Explicit aliases and merges are not limited. Default: 1000.',
    }),
    priority: Type.Array(Type.Enum([...identifierKinds]), {
      minItems: identifierKinds.length,
      maxItems: identifierKinds.length,
      uniqueItems: true,
      description:
        'The order in which kinds of identifiers decide which visitor an event belongs to, if its identifiers belong to several. ' +
        'externalId must come before userId, since several people may use one device. If email decides, the event belongs to the ' +
        'visitor with the address, and the device is signed in as that visitor. If the event was sent with the key of a server, the visitor ' +
        'also gets the externalId, unless another visitor has it. No visitors are merged. Default: externalId, userId, email.',
    }),
    blockedValues: Type.Array(Type.String({ minLength: 1, maxLength: blockedCharactersMax }), {
      maxItems: blockedValuesMax,
      description:
        'Values that are not identifiers, in addition to the built-in ones (undefined, null, none, nan, true, false, 0, -1, unknown, anonymous, ' +
        'guest, test, [object Object], zeros, xxxxx, templates that were not filled in such as {{user.id}}, and the like). Upper and lower case, and spaces, brackets and quotes around a value ' +
        'make no difference. Events are accepted without such identifiers. Visitors that already have one keep it. Default: none.',
    }),
    publicKeysOverwrite: Type.Boolean({
      description:
        'Whether the keys of web, pixel, redirect and mobile sources, which every visitor of a page can read, may do what the keys ' +
        'of servers may: overwrite external_id, email and phone_number that a server source has set, and merge known people by an ' +
        'alias. Values that they set count as set by a server. Default: false.',
    }),
  },
  { additionalProperties: false },
);

export type IdentitySettings = Static<typeof identitySettings>;

export const defaultIdentitySettings: IdentitySettings = {
  emailIdentifies: true,
  externalIdsMax: 1,
  emailsMax: identifiersLimit,
  userIdsMax: identifiersLimit,
  priority: [...identifierKinds],
  blockedValues: [],
  publicKeysOverwrite: false,
};

const fields = Object.entries(identitySettings.properties).map(
  ([name, schema]) => [name as keyof IdentitySettings, Compile(schema)] as const,
);

/** Whether externalId ranks above userId. If it does not, a second person on a device is identified as the first. */
export const isSafePriority = (priority: IdentitySettings['priority']): boolean =>
  priority.indexOf('externalId') < priority.indexOf('userId');

/** Reads settings that this build or another one stored or published: an unreadable field gets its default. */
export function readIdentitySettings(stored: unknown): IdentitySettings {
  if (!isJsonObject(stored)) return defaultIdentitySettings;
  const known = fields.filter(([name, schema]) => schema.Check(stored[name])).map(([name]) => [name, stored[name]]);
  const settings = { ...defaultIdentitySettings, ...(Object.fromEntries(known) as Partial<IdentitySettings>) };
  return isSafePriority(settings.priority) ? settings : { ...settings, priority: defaultIdentitySettings.priority };
}
