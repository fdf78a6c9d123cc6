/** A JSON object from outside: its members are unknown until a schema accepted them. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text as JSON. */
export function quoteJson(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Texts without characters to escape: nearly all texts, and the test costs less than escaping. */
const plainText = /^[ !#-[\]-~]*$/;

/** A number as JSON; one that is not finite is null. */
export function numberJson(value: number): string {
  return Number.isFinite(value) ? String(value) : 'null';
}

export function encodeJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** The value of JSON bytes; undefined when they are not JSON, or there are none. */
export function decodeJson(bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}
