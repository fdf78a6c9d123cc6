/** What a scan found in a range of JSON before it is parsed. The object is reused: call `reset` before a scan. */
export class JsonFacts {
  /** Maximum nesting of arrays and objects. */
  depth = 0;
  /** Number of object keys at all levels. */
  keys = 0;
  /** All bytes of strings and literals, combined by OR: below 128 if all are ASCII. */
  bits = 0;
  /** Whether a key may be `__proto__` or `constructor`, plain or escaped. */
  suspicious = false;
  /** Whether a string contains an escaped null character. */
  nulls = false;
  /** Index of the first byte of the last string, after its opening quote. */
  stringStart = 0;
  stringEscaped = false;

  reset(): void {
    this.depth = 0;
    this.keys = 0;
    this.bits = 0;
    this.suspicious = false;
    this.nulls = false;
  }
}

export const ascii = {
  tab: 0x09,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
} as const;

const { tab, lineFeed, carriageReturn, space, quote, comma, colon } = ascii;
const { openBracket, backslash, closeBracket, openBrace, closeBrace } = ascii;
const letterU = 0x75;
const minus = 0x2d;
const plus = 0x2b;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
const letterE = 0x65;
const firstNonAscii = 0x80;

/**
 * Scans the JSON value at `start` and returns the index after it. The scan does not check the grammar, which JSON.parse
 * does later: its facts are correct for every value that JSON.parse accepts.
 */
export function scanValue(facts: JsonFacts, bytes: Uint8Array, start: number): number {
  const length = bytes.length;
  let depth = 0;
  for (let i = start; i < length; i += 1) {
    const byte = bytes[i] as number;
    if (byte === quote) {
      i = scanString(facts, bytes, i);
      if (depth === 0) return i + 1;
    } else if (byte <= space) {
      if (depth === 0) return i;
      if (byte === lineFeed) bytes[i] = space;
    } else if (byte === comma) {
      if (depth === 0) return i;
    } else if (byte === colon) {
      noteKey(facts, bytes, i);
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > facts.depth) facts.depth = depth;
    } else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 0) return i;
      depth -= 1;
      if (depth === 0) return i + 1;
    } else {
      facts.bits |= byte;
    }
  }
  return length;
}

/**
 * Scans the string whose opening quote is at `start` and returns the index of its closing quote. An escaped surrogate
 * without its pair is overwritten with the escaped replacement character, because no store downstream would accept it.
 */
export function scanString(facts: JsonFacts, bytes: Uint8Array, start: number): number {
  const length = bytes.length;
  let bits = 0;
  let escaped = false;
  let i = start + 1;
  for (; i < length; i += 1) {
    const byte = bytes[i] as number;
    if (byte === quote) break;
    bits |= byte;
    if (byte !== backslash) continue;
    escaped = true;
    i += 1;
    if (bytes[i] === letterU) i = scanEscape(facts, bytes, i);
  }
  facts.bits |= bits;
  facts.stringStart = start + 1;
  facts.stringEscaped = escaped;
  return i;
}

/**
 * Counts the last string as a key, and marks one that could reach a prototype. `colonAt`: the index of the colon after
 * it.
 */
export function noteKey(facts: JsonFacts, bytes: Uint8Array, colonAt: number): void {
  facts.keys += 1;
  const start = facts.stringStart;
  // An escaped key may spell anything. White space may precede the colon, so `colonAt` only limits the key's length.
  if (facts.stringEscaped) facts.suspicious = true;
  else if (colonAt - start < 10) return;
  else if (bytes[start] === 0x5f && bytes[start + 1] === 0x5f) facts.suspicious = true;
  else if (bytes[start] === 0x63 && bytes[start + 1] === 0x6f && bytes[start + 2] === 0x6e) facts.suspicious = true;
}

/** Scans the four digits after the `u` at `at`, and returns the index of the last byte that needs no further scan. */
function scanEscape(facts: JsonFacts, bytes: Uint8Array, at: number): number {
  const unit = hexAt(bytes, at + 1);
  if (unit === 0) facts.nulls = true;
  if (unit < 0xd800 || unit > 0xdfff) return at;
  const next = at + 5;
  const paired = unit < 0xdc00 && bytes[next] === backslash && bytes[next + 1] === letterU;
  const low = paired ? hexAt(bytes, next + 2) : -1;
  if (low >= 0xdc00 && low <= 0xdfff) return next + 5;
  bytes.set(replacementDigits, at + 1);
  return at;
}

const replacementDigits = Buffer.from('fffd');

/** The number that four hexadecimal digits spell; -1 if one of the bytes is not a digit. */
function hexAt(bytes: Uint8Array, at: number): number {
  let value = 0;
  for (let i = at; i < at + 4; i += 1) {
    const digit = hexDigit(bytes[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

/** Bytes that may follow a backslash, except for the `u` of an escape by number. */
const escapes: readonly (number | undefined)[] = [...Buffer.from('"\\/bfnrt')];

/**
 * Returns the index after the JSON white space at `start`. Line feeds become spaces, so that an event fits on one line
 * of a frame.
 */
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
 * Start of the first value of a body. A byte order mark before it, which some .NET writers send, becomes spaces: a
 * reader may ignore one (RFC 8259, 8.1).
 */
export function startOfJson(bytes: Uint8Array): number {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) bytes.fill(space, 0, 3);
  return skipJsonSpace(bytes, 0);
}

/**
 * The index of the closing quote of the string whose text begins at `start`; -1 if it is not a JSON string or escapes a
 * character by number. Sets `facts.stringEscaped` if the string contains other escapes.
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

// A table costs one lookup for each byte; nearly all bytes of an event are simple.
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

/** The index after the JSON number that begins at `start`; -1 if there is none. */
export function numberEnd(bytes: Uint8Array, start: number): number {
  const whole = bytes[start] === minus ? start + 1 : start;
  let at = bytes[whole] === zero ? whole + 1 : digitsEnd(bytes, whole);
  if (at >= 0 && bytes[at] === dot) at = digitsEnd(bytes, at + 1);
  if (at < 0 || ((bytes[at] ?? 0) | 0x20) !== letterE) return at;
  const sign = bytes[at + 1];
  return digitsEnd(bytes, sign === plus || sign === minus ? at + 2 : at + 1);
}

/** The index after the digits at `start`; -1 if there are none. */
export function digitsEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (at < bytes.length && (bytes[at] as number) >= zero && (bytes[at] as number) <= nine) at += 1;
  return at === start ? -1 : at;
}

/** Whether the bytes at `start` are `word`. */
export function standsAt(bytes: Uint8Array, start: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i += 1) if (bytes[start + i] !== word[i]) return false;
  return true;
}

const proto = Buffer.from('__proto__');
const constructorKey = Buffer.from('constructor');

/** Whether the key at [start, end), which has no escapes, could reach a prototype. */
export function isPrototypeKey(bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  if (length === proto.length) return standsAt(bytes, start, proto);
  return length === constructorKey.length && standsAt(bytes, start, constructorKey);
}

const nullWord = Buffer.from('null');
const trueWord = Buffer.from('true');
const falseWord = Buffer.from('false');

/** The index after the `null`, `true` or `false` at `start`; -1 if there is none. */
export function wordEnd(bytes: Uint8Array, start: number): number {
  const word = bytes[start] === nullWord[0] ? nullWord : bytes[start] === trueWord[0] ? trueWord : falseWord;
  return standsAt(bytes, start, word) ? start + word.length : -1;
}

/** Longer numbers may exceed the range of a double, and are not read here. */
const numberBytesMax = 300;

/**
 * The index after the string, number or literal at `start`; -1 for any other value, a long number, or a number with an
 * exponent.
 */
export function plainLeafEnd(facts: JsonFacts, bytes: Uint8Array, start: number): number {
  const byte = bytes[start] as number;
  if (byte === quote) {
    const end = plainStringEnd(facts, bytes, start + 1);
    return end < 0 ? -1 : end + 1;
  }
  facts.stringEscaped = false;
  return byte === minus || byte <= nine ? plainNumberEnd(bytes, start) : wordEnd(bytes, start);
}

function plainNumberEnd(bytes: Uint8Array, start: number): number {
  const end = numberEnd(bytes, start);
  if (end - start > numberBytesMax) return -1;
  for (let at = start; at < end; at += 1) if (((bytes[at] as number) | 0x20) === letterE) return -1;
  return end;
}
