import { countryCode } from '../../routing/modifications/countries.ts';
import { hashedAs } from '../../routing/modifications/digests.ts';
import {
  normaliseDateOfBirth,
  normaliseGender,
  normaliseLetters,
  normalisePhone,
  normaliseState,
  normaliseText,
  normaliseZip,
} from '../../routing/modifications/personal-data.ts';
import { textForm } from '../../routing/values/value-forms.ts';
import { isJsonObject } from '../../runtime/json.ts';
import type { JsonObject } from '../../runtime/json.ts';
import type { OutboundEvent } from './destination.ts';
import { mappedProperties, sentEvent } from './event.ts';
import type { SentEvent } from './event.ts';
import { wholeName } from './person-name.ts';

/** Identifiers of an event's person, as received. */
export type KnownPerson = Readonly<Record<keyof typeof namesOf, string | undefined>>;

/**
 * Reads the person of an event: the visitor's properties, unless the event overrides them. An event
 * overrides with an object `visitor` in its properties (as a mapping to `visitor.city` produces),
 * or with a top-level property if its name is unambiguous: `email` belongs to a person, `city` may
 * belong to a hotel. An overriding null (the modification Null) withholds the value. A missing first
 * or last name is taken from the visitor's full name.
 */
export function knownPerson({ properties, visitor }: SentEvent): KnownPerson {
  const own = properties['visitor'];
  const given: readonly JsonObject[] = isJsonObject(own) ? [own] : [];
  const datum = (key: keyof typeof namesOf): string | undefined => {
    const names = namesOf[key];
    for (const source of isOfPersonsOnly.has(key) ? [...given, properties] : given) {
      const name = names.find((candidate) => source[candidate] !== undefined);
      if (name !== undefined) return datumOf(source[name]);
    }
    for (const name of names) {
      const known = datumOf(visitor[name]);
      if (known !== undefined) return known;
    }
    if (key !== 'firstName' && key !== 'lastName') return undefined;
    return wholeName(visitor)[key] ?? wholeName(visitor.custom_properties)[key];
  };
  return Object.fromEntries(keys.map((key) => [key, datum(key)])) as KnownPerson;
}

/** Property names of each identifier; the first is the name of the visitor property. */
const namesOf = {
  email: ['email'],
  phone: ['phone_number', 'phone'],
  firstName: ['first_name'],
  lastName: ['last_name'],
  gender: ['gender'],
  dateOfBirth: ['date_of_birth'],
  city: ['city'],
  state: ['state'],
  zip: ['zip'],
  country: ['country'],
  externalId: ['external_id'],
  companyName: ['company_name'],
  jobTitle: ['job_title'],
} as const;

/** The visitor properties that identify a person. A mapping to `visitor.<name>` overrides the property `<name>`. */
export const personalProperties: readonly string[] = Object.values(namesOf).map(([name]) => name);

const keys = Object.keys(namesOf) as readonly (keyof typeof namesOf)[];

const isOfPersonsOnly: ReadonlySet<string> = new Set<keyof typeof namesOf>([
  'email',
  'phone',
  'firstName',
  'lastName',
  'dateOfBirth',
  'externalId',
]);

/** The names under which the object `visitor` in an event's properties overrides what is known of the visitor. */
export const overridesInVisitor: ReadonlySet<string> = new Set(keys.flatMap((key) => namesOf[key]));

/** The names under which a property of the event itself does. */
export const overridesInEvent: ReadonlySet<string> = new Set(
  keys.flatMap((key) => (isOfPersonsOnly.has(key) ? namesOf[key] : [])),
);

function datumOf(value: unknown): string | undefined {
  const text = textForm(value)?.trim();
  return text === '' ? undefined : text;
}

/**
 * The id by which an ad platform distinguishes persons: the customer's user id, else the visitor id,
 * which a browser pixel also knows. Undefined if a mapping withholds the user id.
 */
export function matchingId(event: SentEvent): string | undefined {
  const { properties, visitor } = event;
  const own = properties['visitor'];
  const isWithheld = [properties, isJsonObject(own) ? own : {}].some(({ external_id: id }) => id === null);
  return isWithheld ? undefined : (knownPerson(event).externalId ?? visitor.id);
}

/** The SHA-256 of `matchingId`. */
export function hashedMatchingId(event: SentEvent): string | undefined {
  return hashDatum(matchingId(event), normalised.externalId);
}

/**
 * SHA-256 of each identifier in lower-case hex, after normalisation; undefined if the identifier is
 * missing or invalid.
 */
export type HashedPerson = Readonly<Record<keyof typeof normalised | 'phone', string | undefined>>;

/**
 * Personal data in the form that ad platforms match. Follows Meta's rules ("Customer information parameters",
 * https://developers.facebook.com/docs/marketing-api/conversions-api/parameters/customer-information-parameters), which
 * the other platforms adopted; where a platform's rule for a field differs, its kind hashes the field itself. A value
 * of 64 hexadecimal digits is already a hash and is sent unchanged.
 */
export function hashPerson(person: KnownPerson): HashedPerson {
  return {
    email: hashDatum(person.email, normalised.email),
    phone: hashDatum(person.phone, phoneOf(person)),
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

/** Hashes one identifier with its own normalisation. */
export function hashDatum(text: string | undefined, normalise: Normalise): string | undefined {
  return text === undefined ? undefined : hashedAs(normalise)(text, '');
}

/** The address in lower case; undefined if the text is not an address. */
export function normaliseEmail(text: string): string | undefined {
  const email = normaliseText(text);
  return /^[^\s@]+@[^\s@]+$/.test(email) ? email : undefined;
}

/**
 * A Gmail address without dots and without the suffix after a plus, both of which Gmail ignores;
 * any other address as `normaliseEmail` returns it. For platforms that hash addresses this way.
 */
export function normaliseGmail(text: string): string | undefined {
  const email = normaliseEmail(text);
  const [, user = '', domain = ''] = /^(.+)@(gmail\.com|googlemail\.com)$/.exec(email ?? '') ?? [];
  if (user === '') return email;
  const plain = user.replace(/\+.*$/, '').replaceAll('.', '');
  return plain === '' ? undefined : `${plain}@${domain}`;
}

/**
 * A phone number in E.164 with the plus, for platforms that hash it this way. A number without a
 * country code is assumed to be from `country`.
 */
export function normaliseE164(text: string, country?: string): string | undefined {
  const digits = normalisePhone(text, country);
  return digits === undefined ? undefined : `+${digits}`;
}

/** `normaliseE164` for a person's number, with the person's country if it is known. */
export function e164Of(person: Pick<KnownPerson, 'country'>): Normalise {
  const country = countryOf(person);
  return (text) => normaliseE164(text, country);
}

function phoneOf(person: Pick<KnownPerson, 'country'>): Normalise {
  const country = countryOf(person);
  return (text) => normalisePhone(text, country);
}

function countryOf({ country }: Pick<KnownPerson, 'country'>): string | undefined {
  return country === undefined ? undefined : countryCode(country);
}

/** Whether the text is already a hash, for platforms that need the plain value. */
export function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/i.test(text);
}

type Normalise = (text: string) => string | undefined;

const normalised = {
  email: normaliseEmail,
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

/** The identifiers by which a platform may know an event's visitor. */
export type ContactIds = {
  /** The visitor id: present for anonymous visitors too. */
  readonly visitorId: string;
  /** The customer's user id. */
  readonly externalId: string | undefined;
  readonly email: string | undefined;
  /** E.164; undefined if the number cannot be parsed. */
  readonly phone: string | undefined;
};

const e164 = /^\+[1-9]\d{6,14}$/;

/**
 * Reads the identifiers from the visitor. Only a mapping can override or withhold them, because an e-mail address in
 * the original properties may belong to another person, such as a person whom the visitor invites.
 */
export function contactIds(event: OutboundEvent): ContactIds {
  const sent = sentEvent(event);
  const person = knownPerson({ ...sent, properties: mappedProperties(event) ?? {} });
  const phone = person.phone?.replace(/[\s().-]/g, '');
  const isNational = phone !== undefined && /^\d/.test(phone) && person.country !== undefined;
  const whole = isNational ? e164Of(person)(phone) : phone;
  return {
    visitorId: sent.visitor.id,
    externalId: person.externalId,
    email: person.email,
    phone: whole !== undefined && e164.test(whole) ? whole : undefined,
  };
}
