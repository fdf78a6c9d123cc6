import type { PersonalKind } from './personal-kinds.ts';

/** Words of property names, in several languages. A name matches if it contains all words of an entry side by side. */
const words: readonly (readonly [PersonalKind, string])[] = [
  ['email', 'email mail e_mail emails correo courriel'],
  ['phone', 'phone telephone tel telefon telefono mobile msisdn cellphone handy whatsapp fax'],
  ['ip', 'ip ipv4 ipv6 ip_address ipaddress'],
  ['card', 'card cardnumber card_number pan creditcard credit_card cc_number ccnum kreditkarte carte'],
  ['iban', 'iban bank_account account_number kontonummer'],
  [
    'national_id',
    'ssn nino cpf dni nie nif bsn pesel personnummer codice_fiscale tax_id steuer_id taxid national_id social_security insee nir passport',
  ],
  ['birth_date', 'birth birthday birthdate dob born geburtstag geburtsdatum date_naissance nacimiento'],
  [
    'name',
    'first_name last_name firstname lastname full_name fullname surname given_name family_name middle_name nachname vorname nombre apellido prenom maiden_name',
  ],
  [
    'address',
    'street address address address1 address2 addressline zip zipcode postcode postal postal_code plz strasse adresse direccion',
  ],
  [
    'health',
    'diagnosis diagnose icd icd10 medication medications medicine allergy allergies disease symptom symptoms prescription pregnancy pregnant disability blood_type therapy',
  ],
  [
    'secret',
    'password passwd pwd passcode secret token access_token refresh_token api_key apikey auth_token authorization cvv cvc pin',
  ],
];

const kinds: ReadonlyMap<string, PersonalKind> = new Map(
  words.flatMap(([kind, list]) => list.split(' ').map((word) => [word, kind] as const)),
);

/** Words of names of other properties: ids, times, counts, states. */
const others: ReadonlySet<string> = new Set(
  'id ids uuid guid hash hashed sha256 md5 at ts time timestamp version count total number_of is has type status state verified opt optin subscribed subscription template campaign domain provider length brand model page title wallet mac web contract'.split(
    ' ',
  ),
);
const charactersMax = 100;

/** The words of a name in camel, snake or kebab case, in lower case. */
function wordsOf(name: string): readonly string[] {
  return name
    .slice(0, charactersMax)
    .replaceAll(/([\p{Ll}\d])(\p{Lu})/gu, '$1_$2')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter((word) => word !== '');
}

/** The kind of personal data that a property's name suggests. */
export function kindOfName(name: string): PersonalKind | undefined {
  const parts = wordsOf(name);
  for (let length = Math.min(3, parts.length); length > 0; length -= 1) {
    for (let start = 0; start + length <= parts.length; start += 1) {
      const kind = kinds.get(parts.slice(start, start + length).join('_'));
      const isOther = parts.some((word, index) => (index < start || index >= start + length) && others.has(word));
      if (kind !== undefined && !isOther) return kind;
    }
  }
  return undefined;
}

/** Whether a name suggests an id, a time or an amount: a number with such a name is not a phone or card number. */
export function isOfNumber(name: string): boolean {
  const parts = wordsOf(name);
  return parts.some((word) => numbers.has(word));
}

const numbers: ReadonlySet<string> = new Set(
  'id ids uuid guid hash at ts time timestamp version price amount value revenue total tax shipping discount quantity count sku ean gtin isbn order invoice tracking number latitude longitude lat lng lon'.split(
    ' ',
  ),
);
