import { textForm } from '../plan/value-forms.ts';
import { isJsonObject } from '../process/json.ts';
import type { JsonObject } from '../process/json.ts';
import type { SentEvent } from './sent-event.ts';

/** What is known of who did it, each datum as it was given. */
export type KnownPerson = Readonly<Record<keyof typeof namesOf, string | undefined>>;

/**
 * Reads the person of an event: the visitor's properties, unless the event gives others. An event does so in an object
 * `visitor` among its properties (what a mapping of `visitor.city` makes), or beside its other properties where the name
 * can mean nothing else: an `email` is a person's, a `city` may be where a hotel stands. Null there (the modification
 * Null) withholds the datum.
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
    return undefined;
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
