import { countryCode } from '../plan/modifications/countries.ts';
import { hashedAs } from '../plan/modifications/digests.ts';
import {
  normaliseDateOfBirth,
  normaliseGender,
  normaliseLetters,
  normalisePhone,
  normaliseState,
  normaliseText,
  normaliseZip,
} from '../plan/modifications/personal-data.ts';
import type { KnownPerson } from './known-person.ts';

/** SHA-256 of each datum in lower-case hex, normalised first; undefined where there is none or it is not such a datum. */
export type HashedPerson = Readonly<Record<keyof typeof normalised, string | undefined>>;

/**
 * Personal data as the ad platforms match it. The forms are those of Meta ("Customer information parameters",
 * https://developers.facebook.com/docs/marketing-api/conversions-api/parameters/customer-information-parameters), which
 * the other platforms took over; where one wants another form its kind hashes that datum itself. A value that already
 * is 64 hexadecimal digits passes as it is.
 */
export function hashPerson(person: KnownPerson): HashedPerson {
  return {
    email: hashDatum(person.email, normalised.email),
    phone: hashDatum(person.phone, normalised.phone),
    firstName: hashDatum(person.firstName, normalised.firstName),
    lastName: hashDatum(person.lastName, normalised.lastName),
    gender: hashDatum(person.gender, normalised.gender),
    dateOfBirth: hashDatum(person.dateOfBirth, normalised.dateOfBirth),
    city: hashDatum(person.city, normalised.city),
    state: hashDatum(person.state, normalised.state),
    zip: hashDatum(person.zip, normalised.zip),
    country: hashDatum(person.country, normalised.country),
    externalId: hashDatum(person.externalId, normalised.externalId),
  };
}

/** Hashes one datum in a form of its own. */
export function hashDatum(text: string | undefined, normalise: Normalise): string | undefined {
  return text === undefined ? undefined : hashedAs(normalise)(text, '');
}

/** An address in lower case; undefined where the text is none. */
export function normaliseEmail(text: string): string | undefined {
  const email = normaliseText(text);
  return /^[^\s@]+@[^\s@]+$/.test(email) ? email : undefined;
}

/** E.164 with its plus, for platforms that hash it so. */
export function normaliseE164(text: string): string | undefined {
  const digits = normalisePhone(text);
  return digits === undefined ? undefined : `+${digits}`;
}

/** Whether the text is a hash already: of no use where a platform wants the datum itself. */
export function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/i.test(text);
}

type Normalise = (text: string) => string | undefined;

const normalised = {
  email: normaliseEmail,
  phone: normalisePhone,
  firstName: normaliseLetters,
  lastName: normaliseLetters,
  gender: normaliseGender,
  dateOfBirth: normaliseDateOfBirth,
  city: normaliseLetters,
  state: normaliseState,
  zip: normaliseZip,
  country: countryCode,
  externalId: normaliseText,
} as const satisfies Readonly<Record<string, Normalise>>;
