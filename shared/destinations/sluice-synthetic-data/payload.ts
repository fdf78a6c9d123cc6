import { hash } from 'node:crypto';
import { isJsonObject } from '../../runtime/json.ts';

const depthMax = 64;

/**
 * Generates a value of the same shape: objects keep their keys (see isSchemaName), lists their length, texts their form
 * (an e-mail address becomes another e-mail address), and numbers their number of digits. Only the form of an original
 * text remains. The same value and seed give the same result.
 */
export function syntheticValue(value: unknown, seed: string): unknown {
  return makeUp(value, new SeededDigits(seed), '', 0);
}

/** Whether a name looks like part of a schema, and may therefore be kept; any other name could be personal text. */
export function isSchemaName(name: string): boolean {
  return /^[$_A-Za-z][\w $.:/-]{0,63}$/.test(name) && !/\d{5}|^property_\d/.test(name);
}

function makeUp(value: unknown, digits: SeededDigits, name: string, depth: number): unknown {
  if (typeof value === 'string') return makeUpText(value, digits, name);
  if (typeof value === 'number') return makeUpNumber(value, digits);
  if (typeof value === 'boolean') return digits.below(2) === 0;
  // No regular event nests as deeply; null contains nothing personal.
  if (depth >= depthMax) return null;
  if (Array.isArray(value)) return value.map((item) => makeUp(item, digits, name, depth + 1));
  if (!isJsonObject(value)) return null;
  return Object.fromEntries(
    Object.entries(value).map(([key, member], index) => {
      const kept = isSchemaName(key) ? key : `property_${index}`;
      return [kept, makeUp(member, digits, kept, depth + 1)];
    }),
  );
}

const firstNames = ['Alex', 'Robin', 'Kim', 'Sam', 'Charlie', 'Noa', 'Jona', 'Mika'] as const;
const lastNames = ['Sample', 'Muster', 'Exempel', 'Placeholder', 'Testa', 'Voorbeeld'] as const;
const isoDate = /^\d{4}-\d\d-\d\d(?=$|[T ])/;

function makeUpText(text: string, digits: SeededDigits, name: string): string {
  if (text === '') return '';
  if (/^first_?name$/i.test(name)) return digits.pick(firstNames);
  if (/^last_?name$/i.test(name)) return digits.pick(lastNames);
  // Addresses reserved for documentation (RFC 2606, RFC 5737, RFC 3849) and phone numbers reserved for fiction.
  if (/^\S+@\S+$/.test(text)) return `user-${digits.below(1_000_000)}@example.com`;
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(text)) return `https://www.example.com/page-${digits.below(1_000)}`;
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return `192.0.2.${digits.below(256)}`;
  if (/^[\da-f]*:[\da-f:.]*:[\da-f:.]*$/i.test(text)) return `2001:db8::${digits.below(65_536).toString(16)}`;
  if (/phone|mobile/i.test(name)) return `+120255501${String(digits.below(100)).padStart(2, '0')}`;
  const date = isoDate.exec(text);
  if (date !== null) return makeUpDate(text, digits);
  return text.toWellFormed().replace(/\p{L}\p{M}*|\p{N}/gu, (char) => makeUpCharacter(char, digits));
}

/** A date stays a date; a date with a time stays a date with a time, in UTC and to the second. */
function makeUpDate(text: string, digits: SeededDigits): string {
  const two = (most: number, least = 0): string => String(least + digits.below(most - least)).padStart(2, '0');
  const day = `${1950 + digits.below(75)}-${two(13, 1)}-${two(29, 1)}`;
  return text.length <= 10 ? day : `${day}T${two(24)}:${two(60)}:${two(60)}Z`;
}

function makeUpCharacter(char: string, digits: SeededDigits): string {
  if (/\p{N}/u.test(char)) return String(digits.below(10));
  const letter = String.fromCharCode(97 + digits.below(26));
  return /\p{Lu}/u.test(char) ? letter.toUpperCase() : letter;
}

/**
 * A number with the same sign and the same number of digits before and after the point; 0 for exponents and infinities.
 */
function makeUpNumber(value: number, digits: SeededDigits): number {
  const [whole = '0', fraction = ''] = String(Math.abs(value)).split('.');
  if (!/^\d+$/.test(whole) || !/^\d*$/.test(fraction)) return 0;
  const made = whole.replace(/\d/g, (_digit, at) => String(at === 0 ? 1 + digits.below(9) : digits.below(10)));
  const rest = fraction.replace(/\d/g, () => String(digits.below(10)));
  const number = value === 0 ? 0 : Number(`${made}.${rest}`);
  return value < 0 ? -number : number;
}

/** A sequence of pseudo-random numbers, which is the same for the same seed. */
class SeededDigits {
  readonly #seed: string;
  #block = Buffer.alloc(0);
  #at = 0;
  #blocks = 0;

  constructor(seed: string) {
    this.#seed = seed;
  }

  /** A whole number from 0 to `most` - 1; `most` is at most 2^32. */
  below(most: number): number {
    if (this.#at + 4 > this.#block.length) {
      this.#block = Buffer.from(hash('sha512', `sluice-synthetic\n${this.#seed}\n${this.#blocks}`, 'hex'), 'hex');
      this.#blocks += 1;
      this.#at = 0;
    }
    const number = this.#block.readUInt32LE(this.#at);
    this.#at += 4;
    return number % most;
  }

  pick<Choice>(choices: readonly [Choice, ...Choice[]]): Choice {
    return choices[this.below(choices.length)] ?? choices[0];
  }
}
