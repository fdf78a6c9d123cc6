/** A JSON object from outside, whose members are unknown until a schema has accepted them. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The JSON string of a text, with its quotes. */
export function quoteJson(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Matches ASCII texts without characters to escape: nearly all texts. The test costs less than JSON.stringify. */
const plainText = /^[ !#-[\]-~]*$/;

/** A number as JSON; null if the number is not finite. */
export function numberJson(value: number): string {
  return Number.isFinite(value) ? String(value) : 'null';
}

export function encodeJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** The value of JSON bytes; undefined if `bytes` is undefined or not JSON. */
export function decodeJson(bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}
