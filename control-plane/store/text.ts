import { randomBytes } from 'node:crypto';
import { isJsonObject } from '../../shared/runtime/json.ts';

/**
 * Text in the form in which searches compare it, without regard to case. Folded here and not in SQL, because the result
 * of `lower` in SQL depends on the database's locale.
 */
export function foldText(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** A LIKE pattern for folded text that contains `part`, in which `%` and `_` mean themselves. */
export function containsFolded(part: string): string {
  return `%${foldText(part).replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

const slugCharsMax = 48;

/** Turns a name into an id: lower-case ASCII words joined by dashes; '' if the name has no ASCII letters or digits. */
export function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, slugCharsMax)
    .replaceAll(/^-+|-+$/g, '');
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
// The largest multiple of 62 in a byte: values above it would favour the first letters.
const fairBelow = 248;

/** Random text of letters and digits, about 5.95 bits a character. */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < fairBelow && text.length < length) text += alphabet.charAt(byte % alphabet.length);
    }
  }
  return text;
}

const uuidShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether the text is a UUID, whatever its version. */
export function isUuid(text: string): boolean {
  return uuidShape.test(text);
}

/** JSON with sorted keys: the same text for the same value. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isJsonObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  );
}
