/** An escaped null character, but not an escaped backslash before the same digits. */
const escapedNull = /(?<!\\)((?:\\\\)*)\\u0000/g;

/** The JSON with U+FFFD for each null character, because no store accepts null characters. */
export const replaceNulls = (json: Buffer): Buffer =>
  Buffer.from(json.toString('utf8').replaceAll(escapedNull, '$1\\ufffd'));
