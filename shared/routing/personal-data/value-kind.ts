import { isIP } from 'node:net';
import { isValidPhoneNumber } from 'libphonenumber-js/min';
import { isCardNumber, isIban, isNationalId } from './checksums.ts';
import { isOfNumber, kindOfName } from './name-kind.ts';
import type { PersonalKind } from './personal-kinds.ts';

/** Maximum number of characters of a value whose shape is checked. */
export const charactersMax = 256;

/**
 * The kinds that one value suggests. `byName`: by the property's name alone; `byShape`: by the value, with the name as
 * a hint.
 */
export type ValueKinds = { readonly byName: PersonalKind | undefined; readonly byShape: PersonalKind | undefined };

/**
 * The kinds that a property's name and value suggest. `nowYear`: for dates of birth. Each check is linear in the value.
 */
export function kindsOf(name: string, value: unknown, nowYear: number): ValueKinds {
  const byName = kindOfName(name);
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text === '' || text.length > charactersMax) return { byName, byShape: undefined };
  return { byName, byShape: shapeOf(text.trim(), byName, isOfNumber(name), nowYear) };
}

function shapeOf(
  text: string,
  hint: PersonalKind | undefined,
  isOfNumber_: boolean,
  nowYear: number,
): PersonalKind | undefined {
  if (isEmail(text) || holdsEmail(text)) return 'email';
  if (isSecret(text)) return 'secret';
  if (isIban(text)) return 'iban';
  if (isIP(text) !== 0) return 'ip';
  if (hint === 'national_id' && isNationalId(text)) return 'national_id';
  if (hint === 'birth_date' && isBirthDate(text, nowYear)) return 'birth_date';
  if (isOfNumber_ && hint === undefined) return undefined;
  if (isCardNumber(text)) return 'card';
  return isPhone(text, hint === 'phone') ? 'phone' : undefined;
}

const localPart = /^[\w!#$%&'*+/=?^`{|}~.-]{1,64}$/;
const domain = /^[a-z\d-]{1,63}(\.[a-z\d-]{1,63}){1,8}$/i;

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  return at > 0 && localPart.test(text.slice(0, at)) && domain.test(text.slice(at + 1));
}

/** Whether the query of a URL contains an e-mail address: `?email=ada%40example.com`. */
function holdsEmail(text: string): boolean {
  const query = /^(https?:\/\/|\/)/i.test(text) ? text.indexOf('?') : -1;
  if (query === -1) return false;
  return text
    .slice(query + 1)
    .split(/[&#]/)
    .some((pair) => isEmail(pair.slice(pair.indexOf('=') + 1).replace(/%40/i, '@')));
}

const prefixes = ['sk_live_', 'rk_live_', 'xoxb-', 'xoxp-', 'ghp_', 'github_pat_', 'glpat-', 'AKIA', 'AIza', 'SG.'];
const prefixedMin = 20;

function isSecret(text: string): boolean {
  if (text.startsWith('-----BEGIN ') || /^bearer [\w.~+/=-]{16,}$/i.test(text)) return true;
  if (text.length >= prefixedMin && prefixes.some((prefix) => text.startsWith(prefix))) return true;
  // The head of a JSON web token is `{"` in base64url.
  return text.startsWith('eyJ') && /^[\w-]{10,}\.[\w-]{10,}\.[\w-]*$/.test(text);
}

const daysOf = /^(\d{4})-(\d{2})-(\d{2})(T.*)?$|^(\d{1,2})[./-](\d{1,2})[./-](\d{4})$/;
const yearsMin = 5;

function isBirthDate(text: string, nowYear: number): boolean {
  const parts = daysOf.exec(text);
  const year = Number(parts?.[1] ?? parts?.[7]);
  return parts !== null && year >= 1900 && year <= nowYear - yearsMin;
}

function isPhone(text: string, isNamed: boolean): boolean {
  if (!/^\+?[\d ().\-/]{7,24}$/.test(text)) return false;
  if (text.startsWith('+')) return isValidPhoneNumber(text);
  const digits = text.replaceAll(/\D/g, '');
  return isNamed && digits.length >= 7 && digits.length <= 15;
}
