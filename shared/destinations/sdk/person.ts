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

/** What is known of who did it, each datum as it was given. */
export type KnownPerson = Readonly<Record<keyof typeof namesOf, string | undefined>>;

/**
 * Reads the person of an event: the visitor's properties, unless the event gives others. An event does so in an object
 * `visitor` among its properties (what a mapping of `visitor.city` makes), or beside its other properties where the name
 * can mean nothing else: an `email` is a person's, a `city` may be where a hotel stands. Null there (the modification
 * Null) withholds the datum. A first or last name that is missing is taken from the visitor's whole name.
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

/** Names each datum goes by, that of the visitor property first. */
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

/** The visitor properties a person is known by. A mapping of `visitor.` and one of these overrides it. */
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

function datumOf(value: unknown): string | undefined {
  const text = textForm(value)?.trim();
  return text === '' ? undefined : text;
}

/**
 * The id that an ad platform tells people apart by: the customer's, else the visitor's, which a pixel in the browser
 * knows too. Undefined where a mapping withholds it.
 */
export function matchingId(event: SentEvent): string | undefined {
  const { properties, visitor } = event;
  const own = properties['visitor'];
  const isWithheld = [properties, isJsonObject(own) ? own : {}].some(({ external_id: id }) => id === null);
  return isWithheld ? undefined : (knownPerson(event).externalId ?? visitor.id);
}

/** The same as SHA-256. */
export function hashedMatchingId(event: SentEvent): string | undefined {
  return hashDatum(matchingId(event), normalised.externalId);
}

/** SHA-256 of each datum in lower-case hex, normalised first; undefined where there is none or it is not such a datum. */
export type HashedPerson = Readonly<Record<keyof typeof normalised | 'phone', string | undefined>>;

/**
 * Personal data as the ad platforms match it. The forms are those of Meta ("Customer information parameters",
 * https://developers.facebook.com/docs/marketing-api/conversions-api/parameters/customer-information-parameters), which
 * the other platforms took over; where one wants another form its kind hashes that datum itself. A value that already
 * is 64 hexadecimal digits passes as it is.
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

/** Hashes one datum in a form of its own. */
export function hashDatum(text: string | undefined, normalise: Normalise): string | undefined {
  return text === undefined ? undefined : hashedAs(normalise)(text, '');
}

/** An address in lower case; undefined where the text is none. */
export function normaliseEmail(text: string): string | undefined {
  const email = normaliseText(text);
  return /^[^\s@]+@[^\s@]+$/.test(email) ? email : undefined;
}

/**
 * An address of Gmail without dots and what follows a plus, which it does not look at; others as `normaliseEmail` has
 * them. For platforms that hash addresses so.
 */
export function normaliseGmail(text: string): string | undefined {
  const email = normaliseEmail(text);
  const [, user = '', domain = ''] = /^(.+)@(gmail\.com|googlemail\.com)$/.exec(email ?? '') ?? [];
  if (user === '') return email;
  const plain = user.replace(/\+.*$/, '').replaceAll('.', '');
  return plain === '' ? undefined : `${plain}@${domain}`;
}

/** E.164 with its plus, for platforms that hash it so; a number without a country code is one of `country`. */
export function normaliseE164(text: string, country?: string): string | undefined {
  const digits = normalisePhone(text, country);
  return digits === undefined ? undefined : `+${digits}`;
}

/** The same for a number of a person whose country may be known. */
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

/** Whether the text is a hash already: of no use where a platform wants the datum itself. */
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

/** Every name a platform may know the visitor of an event by. */
export type ContactIds = {
  /** Ours: present for anonymous visitors too. */
  readonly visitorId: string;
  /** The customer's. */
  readonly externalId: string | undefined;
  readonly email: string | undefined;
  /** In the form of E.164; undefined where what is known cannot be read as that. */
  readonly phone: string | undefined;
};

const e164 = /^\+[1-9]\d{6,14}$/;

/**
 * Reads them from the visitor. Only a mapping gives others, or withholds one: an address among the properties as they
 * came may belong to another person, whom the visitor invites.
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
