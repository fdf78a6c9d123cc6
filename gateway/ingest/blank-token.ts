const star = 0x2a;
const backslash = 0x5c;
/** Keys are longer than this; a shorter text could occur anywhere by chance. */
const charactersMin = 16;
const beginsWithLetter = /^[A-Za-z]/;
const ascii = /^[ -~]*$/;

/**
 * Overwrites a source key with stars, in the token and wherever else the body repeats the key, so that no key is stored
 * in the log. The bytes stay JSON of the same length.
 */
export function blankToken(body: Buffer, start: number, end: number, token: string): void {
  if (start >= 0) body.fill(star, start, end);
  blankRepeats(body, token);
}

/** Overwrites a key wherever it is part of a string. */
export function blankRepeats(body: Buffer, token: string): void {
  if (token.length < charactersMin) return;
  // Searching for bytes is faster than for characters.
  const encoding = ascii.test(token) ? 'latin1' : 'utf8';
  let at = body.indexOf(token, 0, encoding);
  // A match of this length that begins with a letter cannot be a number, so it is inside a string.
  if (at < 0 || !beginsWithLetter.test(token)) return;
  for (; at >= 0; at = body.indexOf(token, at + token.length, encoding)) {
    if (!isEscaped(body, at)) body.fill(star, at, at + Buffer.byteLength(token));
  }
}

/** Whether the character is part of an escape. The backslash before it may itself be escaped. */
function isEscaped(body: Buffer, at: number): boolean {
  let before = at;
  while (body[before - 1] === backslash) before -= 1;
  return (at - before) % 2 === 1;
}
