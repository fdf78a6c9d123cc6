/** A JSON object from outside: its members are unknown until a schema took them. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A text as JSON. */
export function quoteJson(text: string): string {
  return plainText.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Texts that stand in JSON as they are: nearly all that come here, and found out for less than they cost to escape. */
const plainText = /^[ !#-[\]-~]*$/;

/** A number as JSON, which has none for what is not finite. */
export function numberJson(value: number): string {
  return Number.isFinite(value) ? String(value) : 'null';
}

export function encodeJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

/** The value of JSON bytes; undefined when they are not JSON, or none are there. */
export function decodeJson(bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    return undefined;
  }
}
