import { randomBytes } from 'node:crypto';

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
