import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import {
  defaultIdentitySettings,
  identitySettings,
  isSafePriority,
} from '../../shared/contracts/config/identity-settings.ts';
import type { IdentitySettings } from '../../shared/contracts/config/identity-settings.ts';
import { bareIdentifier } from '../../shared/contracts/events/placeholder-identifier.ts';
import { badRequest } from '../api/api-error.ts';

export type IdentityChange = { readonly [Name in keyof IdentitySettings]?: IdentitySettings[Name] | null };

/** The changes of a request: an omitted field stays unchanged, null resets it to its default. */
export const identityChange = Type.Object(
  Object.fromEntries(
    Object.entries<TSchema>(identitySettings.properties).map(([name, schema]) => [
      name,
      Type.Optional(nullable(schema)),
    ]),
  ),
  { additionalProperties: false },
);

/**
 * The settings after a change, and the names of the changed fields. Throws a 400 for a value that cannot be compared.
 */
export function changeIdentity(
  before: IdentitySettings,
  change: IdentityChange,
): { readonly identity: IdentitySettings; readonly fields: readonly string[] } {
  const given = Object.entries(change).map(([name, value]) => [
    name,
    value ?? defaultIdentitySettings[name as keyof IdentitySettings],
  ]);
  const identity: IdentitySettings = { ...before, ...(Object.fromEntries(given) as Partial<IdentitySettings>) };
  const empty = identity.blockedValues.findIndex((value) => bareIdentifier(value) === '');
  if (empty >= 0) {
    throw badRequest(
      `identity.blockedValues[${empty}] has only spaces, brackets and quotes: such values are always blocked`,
    );
  }
  if (!isSafePriority(identity.priority)) {
    throw badRequest(
      'identity.priority: externalId must come before userId. Several people may share a device, and the ' +
        'events of the second person to sign in would go to the first',
    );
  }
  const names = Object.keys(identity) as (keyof IdentitySettings)[];
  return { identity, fields: names.filter((name) => JSON.stringify(identity[name]) !== JSON.stringify(before[name])) };
}
