import { isJsonObject } from '../../runtime/json.ts';
import { textOf } from './path.ts';

/** An answer of a form: the author's name for the field, and the visitor's answer. */
export type FormField = { readonly label: string; readonly value: unknown };

/** The person's properties in the answers of a form. */
export type FormPerson = { readonly email: string | undefined; readonly traits: Readonly<Record<string, string>> };

/** Maximum number of answers that are read. */
const fieldsMax = 1_000;
/** Maximum length of a name that is interpreted. */
const labelCharactersMax = 120;

/**
 * The meaning of a field's name. Authors choose the names, so this is a guess by English words; the whole form stays
 * in the event's properties. The guess must be conservative, because a wrong phone number or name reaches every
 * destination. A field's name has to match as a whole, apart from filler words; for e-mail addresses and phone numbers
 * a part of it suffices, but the answer has to be plausible. The first matching field wins.
 */
const meanings: readonly { readonly trait: string; readonly label: RegExp }[] = [
  {
    trait: 'full_name',
    label:
      /^(?:(?:full )?name|fullname|name (?:and )?surname|surname (?:and )?name|first (?:name )?(?:and )?last name)$/,
  },
  { trait: 'first_name', label: /^(?:first|given) ?name$|^forename$/ },
  { trait: 'last_name', label: /^(?:last|family) ?name$|^surname$/ },
  { trait: 'email', label: /mail/ },
  { trait: 'phone_number', label: /\b(?:phone|mobile|cell|cellphone|telephone|tel|whatsapp)\b/ },
  {
    trait: 'company_name',
    label: /^(?:(?:which|name of) )?(?:company|organi[sz]ation|business|employer)(?: name)?(?: do you work for)?$/,
  },
  { trait: 'job_title', label: /^(?:current )?job ?title$/ },
  { trait: 'address', label: /^(?:home |mailing |postal )?address$/ },
  { trait: 'city', label: /^(?:city|town)$/ },
  { trait: 'state', label: /^state(?: province| region)?$/ },
  { trait: 'zip', label: /^(?:zip|postal|post)(?: ?code)?$|^postcode$/ },
  { trait: 'country', label: /^country$/ },
  { trait: 'date_of_birth', label: /^(?:date of birth|birth ?date|birthday|dob)$/ },
];

/** Filler words that do not change the meaning of a name. */
const fillers =
  /\b(?:what|whats|s|is|are|your|my|the|please|enter|tell|us|give|provide|can|could|may|we|have|get|i|know|type|write|in|here|optional|required|and (?=your)|contact|customer|billing|lead|client|user|applicant|attendee)\b/g;
/** Matches a field about a thing, or about a person other than the form's visitor. */
const isOfAnother =
  /\b(?:friend|partner|spouse|husband|wife|child|kid|son|daughter|parent|mother|father|guardian|emergency|next of kin|referrer|referred|referral|colleague|manager|boss|supervisor|recipient|maiden|pet|dog|cat|school|product|event|project|domain|file|user ?name)(?: s)?\b/;

const emailShape = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** Whether a text is a plausible e-mail address. */
export const isEmail = (text: string): boolean => text.length <= 1_000 && emailShape.test(text);

const phoneShape = /^[+(]?[\d\s().\-/]{5,30}(?:(?:x|ext\.?) ?\d{1,6})?$/i;

/** Whether a text is a plausible phone number: 7 to 15 digits (ITU-T E.164) with common separators. */
const isPhone = (text: string): boolean => {
  const digits = text.replaceAll(/(?:x|ext).*$|\D/gi, '').length;
  return digits >= 7 && digits <= 15 && phoneShape.test(text);
};

/** Extracts a person from a form's answers. */
export function readFormPerson(fields: Iterable<FormField>): FormPerson {
  const found: Record<string, string> = {};
  const keep = (trait: string, text: string | undefined): void => {
    if (text !== undefined && found[trait] === undefined) found[trait] = text;
  };
  let looked = 0;
  for (const { label, value } of fields) {
    looked += 1;
    if (looked > fieldsMax) break;
    const trait = meaningOf(label, value);
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

function meaningOf(label: string, value: unknown): string | undefined {
  if (label.length > labelCharactersMax) return undefined;
  const words = wordsOf(label);
  if (isOfAnother.test(words)) return undefined;
  const bare = words.replaceAll(fillers, ' ').replaceAll(/ +/g, ' ').trim();
  const trait = meanings.find((meaning) => meaning.label.test(bare))?.trait;
  // A first and a last name together belong to a person, whatever the field's name.
  const isName = isJsonObject(value) && typeof value['first'] === 'string' && typeof value['last'] === 'string';
  return trait ?? (isName ? 'full_name' : undefined);
}

/** Splits camelCase, snake_case and kebab-case into words, without a form builder's numbers, as in `q4_email4`. */
function wordsOf(label: string): string {
  return label
    .replace(/^q\d+_/i, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, ' ')
    .replace(/(?<=[a-z]) ?\d+ *$/, '')
    .trim();
}

function emailOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text !== undefined && isEmail(text) ? text : undefined;
}

/** Keeps first and last name of a name given as one text or in parts. */
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

/** Splits a name into its first word and the rest. */
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

/** A phone number given as one text, or in parts such as area code and number; undefined if it is not plausible. */
function phoneOf(value: unknown): string | undefined {
  const parts = isJsonObject(value) ? [value['country'], value['area'], value['phone']] : [];
  const whole = isJsonObject(value) ? textOf(value['full']) : textOf(value);
  const text =
    whole ??
    parts
      .map(textOf)
      .filter((part) => part !== undefined)
      .join(' ');
  return isPhone(text) ? text : undefined;
}

/** The members of an object as answers; `labelOf` returns the author's name for a member's key. */
export function membersAsFields(value: unknown, labelOf: (key: string) => string = (key) => key): FormField[] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value)
    .slice(0, fieldsMax)
    .map(([key, member]) => ({ label: labelOf(key), value: member }));
}
