import { ascii } from './scan-value.ts';
import type { JsonFacts } from './scan-value.ts';

const { lineFeed, space, quote, backslash } = ascii;
const tab = 0x09;
const carriageReturn = 0x0d;
const minus = 0x2d;
const plus = 0x2b;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const letterE = 0x65;
const firstNonAscii = 0x80;

/** What may stand behind a backslash, but for escapes by number. */
const escapes: readonly (number | undefined)[] = [...Buffer.from('"\\/bfnrt')];

/** Skips what JSON takes for white space. Line breaks become spaces, so that an event fits on one line of a frame. */
export function skipJsonSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte > space) break;
    if (byte === lineFeed) bytes[at] = space;
    else if (byte !== space && byte !== tab && byte !== carriageReturn) break;
  }
  return at;
}

/**
 * The index of the closing quote of the string whose text begins at `start`; -1 when it is no JSON string or escapes a
 * character by number. `facts` tells whether it holds other escapes.
 */
export function plainStringEnd(facts: JsonFacts, bytes: Uint8Array, start: number): number {
  const length = bytes.length;
  facts.stringEscaped = false;
  for (let at = start; at < length; at += 1) {
    const kind = kinds[bytes[at] as number];
    if (kind === simple) continue;
    if (kind === closing) return at;
    if (kind === control) return -1;
    facts.bits |= bytes[at] as number;
    if (kind === wide) continue;
    at += 1;
    if (!escapes.includes(bytes[at])) return -1;
    facts.stringEscaped = true;
  }
  return -1;
}

// One look-up a byte: nearly all bytes of an event are simple ones.
const simple = 0;
const closing = 1;
const control = 2;
const wide = 3;
const escaping = 4;
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === quote) return closing;
  if (byte === backslash) return escaping;
  if (byte < space) return control;
  return byte < firstNonAscii ? simple : wide;
});

/** The index behind the JSON number that begins at `start`; -1 when there is none. */
export function numberEnd(bytes: Uint8Array, start: number): number {
  const whole = bytes[start] === minus ? start + 1 : start;
  let at = bytes[whole] === zero ? whole + 1 : digitsEnd(bytes, whole);
  if (at >= 0 && bytes[at] === dot) at = digitsEnd(bytes, at + 1);
  if (at < 0 || ((bytes[at] ?? 0) | 0x20) !== letterE) return at;
  const sign = bytes[at + 1];
  return digitsEnd(bytes, sign === plus || sign === minus ? at + 2 : at + 1);
}

/** The index behind the digits at `start`; -1 when there are none. */
export function digitsEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && (bytes[at] as number) >= zero && (bytes[at] as number) <= nine) at += 1;
  return at === start ? -1 : at;
}

/** Whether `word` stands at `start`. */
export function standsAt(bytes: Uint8Array, start: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i += 1) if (bytes[start + i] !== word[i]) return false;
  return true;
}
