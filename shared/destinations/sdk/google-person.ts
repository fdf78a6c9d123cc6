import { normaliseText } from '../../routing/modifications/personal-data.ts';
import { e164Of, hashDatum, normaliseEmail } from './person.ts';
import type { KnownPerson } from './person.ts';

/** SHA-256 of identifiers in the form that Google matches, in lower-case hex. */
export type GoogleHashes = {
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly firstName: string | undefined;
  readonly lastName: string | undefined;
};

/** https://developers.google.com/data-manager/api/devguides/concepts/formatting */
export function hashForGoogle(person: KnownPerson): GoogleHashes {
  return {
    email: hashDatum(person.email, googleEmail),
    phone: hashDatum(person.phone, e164Of(person)),
    firstName: hashDatum(person.firstName, normaliseText),
    lastName: hashDatum(person.lastName, normaliseText),
  };
}

/**
 * The address in lower case. Gmail ignores dots and a plus suffix (`+…` before the @), so both are removed from its
 * addresses.
 */
export function googleEmail(text: string): string | undefined {
  const email = normaliseEmail(text.replaceAll(/\s/g, ''));
  const [, user, domain] = /^(.+)@(gmail\.com|googlemail\.com)$/.exec(email ?? '') ?? [];
  if (user === undefined || domain === undefined) return email;
  const plain = user.replace(/\+.*$/, '').replaceAll('.', '');
  return plain === '' ? undefined : `${plain}@${domain}`;
}
