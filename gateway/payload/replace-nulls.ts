/** An escaped null character, and not an escaped backslash before the same letters. */
const escapedNull = /(?<!\\)((?:\\\\)*)\\u0000/g;

/** The JSON with U+FFFD for each null character: no store takes one, and its sender cannot correct it. */
export const replaceNulls = (json: Buffer): Buffer =>
  Buffer.from(json.toString('utf8').replaceAll(escapedNull, '$1\\ufffd'));
