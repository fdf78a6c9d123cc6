import { isJsonObject } from '../../runtime/json.ts';
import { textOf } from './path.ts';

/** An answer of a form: what its author called the field, and what a visitor wrote. */
export type FormField = { readonly label: string; readonly value: unknown };

/** What the answers of a form say about the person. */
export type FormPerson = { readonly email: string | undefined; readonly traits: Readonly<Record<string, string>> };

/** At most so many answers are looked at. */
const fieldsMax = 1_000;
/** Of a name that is longer nothing is understood. */
const labelCharactersMax = 120;

/**
 * What a field's name says it holds. Authors choose the names, so this is a guess, by the words of a label in English;
 * the whole form stays in the event's properties. The first field that fits counts.
 */
const meanings: readonly { readonly trait: string; readonly label: RegExp }[] = [
  { trait: 'email', label: /\be ?mail\b/ },
  { trait: 'phone_number', label: /\b(?:phone|mobile|cell|telephone|tel)\b/ },
  { trait: 'first_name', label: /\b(?:first|given) ?name\b/ },
  { trait: 'last_name', label: /\b(?:last|family) ?name\b|\bsurname\b/ },
  { trait: 'company_name', label: /\b(?:company|organi[sz]ation)\b/ },
  { trait: 'job_title', label: /\bjob ?title\b/ },
  { trait: 'full_name', label: /^(?:your )?(?:full )?name$/ },
  { trait: 'address', label: /^(?:your |home )?address$/ },
  { trait: 'city', label: /^(?:city|town)$/ },
  { trait: 'state', label: /^state(?: province| region)?$/ },
  { trait: 'zip', label: /^(?:zip|postal)(?: ?code)?$/ },
  { trait: 'country', label: /^country$/ },
  { trait: 'date_of_birth', label: /^(?:date of birth|birth ?date|birthday|dob)$/ },
];

const emailShape = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** Whether a text can be an e-mail address. */
export const isEmail = (text: string): boolean => text.length <= 1_000 && emailShape.test(text);

/** Reads a person out of a form's answers. */
export function readFormPerson(fields: Iterable<FormField>): FormPerson {
  const found: Record<string, string> = {};
  const keep = (trait: string, text: string | undefined): void => {
    if (text !== undefined && found[trait] === undefined) found[trait] = text;
  };
  let looked = 0;
  for (const { label, value } of fields) {
    looked += 1;
    if (looked > fieldsMax) break;
    const trait = meaningOf(label);
    if (trait === 'full_name') keepName(value, keep);
    else if (trait === 'address') keepAddress(value, keep);
    else if (trait === 'phone_number') keep(trait, phoneOf(value));
    else if (trait === 'email') keep(trait, emailOf(value));
    else if (trait !== undefined) keep(trait, textOf(value));
  }
  const { email, ...traits } = found;
  return { email, traits };
}

type Keep = (trait: string, text: string | undefined) => void;

function meaningOf(label: string): string | undefined {
  if (label.length > labelCharactersMax) return undefined;
  // camelCase, snake_case and kebab-case are words as well.
  const words = label
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, ' ')
    .trim();
  return meanings.find((meaning) => meaning.label.test(words))?.trait;
}

function emailOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text !== undefined && isEmail(text) ? text : undefined;
}

/** A name in one piece, or in parts. */
function keepName(value: unknown, keep: Keep): void {
  if (isJsonObject(value)) {
    keep('first_name', textOf(value['first'] ?? value['firstName']));
    keep('last_name', textOf(value['last'] ?? value['lastName']));
    return;
  }
  const name = splitName(textOf(value));
  keep('first_name', name?.first);
  keep('last_name', name?.last);
}

/** The first word of a name, and all that follows it. */
export function splitName(name: string | undefined): { first: string; last: string | undefined } | undefined {
  if (name === undefined) return undefined;
  const [first = '', ...rest] = name.split(/\s+/);
  return { first, last: rest.join(' ') || undefined };
}

function keepAddress(value: unknown, keep: Keep): void {
  if (!isJsonObject(value)) return;
  keep('city', textOf(value['city']));
  keep('state', textOf(value['state']));
  keep('zip', textOf(value['postal'] ?? value['zip'] ?? value['postal_code']));
  keep('country', textOf(value['country']));
}

/** A number in one piece, or as area and number. */
function phoneOf(value: unknown): string | undefined {
  const whole = isJsonObject(value) ? textOf(value['full']) : textOf(value);
  if (!isJsonObject(value) || whole !== undefined) return whole;
  const parts = [value['country'], value['area'], value['phone']].map(textOf).filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(' ');
}

/** The members of an object as answers; `labelOf` says what the author called each. */
export function membersAsFields(value: unknown, labelOf: (key: string) => string = (key) => key): FormField[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value)
    .slice(0, fieldsMax)
    .map(([key, member]) => ({ label: labelOf(key), value: member }));
}
