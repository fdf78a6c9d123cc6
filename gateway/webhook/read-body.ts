import { isUtf8 } from 'node:buffer';
import { Busboy } from '@fastify/busboy';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { failure, malformedJson } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';
import { readLenientValue } from '../payload/lenient-value.ts';
import { tooManyKeys } from '../payload/read-json.ts';
import type { JsonLimits } from '../payload/read-json.ts';
import { JsonFacts, ascii, scanValue, skipJsonSpace, startOfJson } from '../../shared/json/scan-json.ts';

/** The content of a body, or the refusal of a body that cannot be read. */
export type ReadBody =
  | {
      readonly value: unknown;
      /** Number of members of an array that could not be read and were left out. */
      readonly leftOut?: number;
      readonly refusal?: undefined;
    }
  | { readonly refusal: Reply };

export type ProviderJsonLimits = JsonLimits & { readonly arrayKeysMax: number };

const { comma, closeBracket } = ascii;
const parametersMax = 1_000;
const notAContainer = failure(400, 'the body must be a JSON object or an array of them');
const malformedForm = failure(400, 'the body is not a valid form');

const facts = new JsonFacts();

/**
 * Returns the body as UTF-8. A body that is not valid UTF-8 is decoded by the charset in its content type, rather than
 * refused, since its sender cannot correct it. Bytes that cannot be decoded become U+FFFD.
 */
export function asUtf8(body: Buffer, contentType: string): Buffer {
  if (isUtf8(body)) return body;
  const [, charset] = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType) ?? [];
  try {
    return Buffer.from(new TextDecoder(charset).decode(body));
  } catch {
    // TextDecoder only knows the charsets that the WHATWG lists.
    return Buffer.from(body.toString('utf8'));
  }
}

/**
 * Reads a provider's JSON: an object, or an array of objects, for which the limit of keys is higher. Repairs faults,
 * since the sender cannot correct them.
 */
export function readProviderJson(body: Buffer, limits: ProviderJsonLimits): ReadBody {
  const start = startOfJson(body);
  const opening = String.fromCharCode(body[start] ?? 0);
  if (opening !== '{' && opening !== '[') return { refusal: start >= body.length ? malformedJson : notAContainer };
  if (opening === '[') return readMembers(body, start, limits);
  facts.reset();
  scanValue(facts, body, start);
  const problem = problemOf(limits);
  if (problem !== undefined) return { refusal: problem };
  return readValue(body) ?? { refusal: malformedJson };
}

/** Reads the members of an array one by one. Unreadable members are left out, unless all are unreadable. */
function readMembers(body: Buffer, start: number, limits: ProviderJsonLimits): ReadBody {
  const values: unknown[] = [];
  let leftOut = 0;
  let keys = 0;
  let problem: Reply | undefined;
  let at = skipJsonSpace(body, start + 1);
  while (body[at] !== closeBracket) {
    facts.reset();
    const end = scanValue(facts, body, at);
    keys += facts.keys;
    if (keys > limits.arrayKeysMax) return { refusal: tooManyKeys(limits.arrayKeysMax) };
    const bytes = body.subarray(at, end);
    // The array itself is one level of the body's depth.
    const found = problemOf({ depthMax: limits.depthMax - 1, keysMax: limits.arrayKeysMax }, limits.depthMax);
    problem ??= found;
    const read = found === undefined ? readValue(bytes) : undefined;
    if (read !== undefined) values.push(read.value);
    else if (found === undefined) return { refusal: malformedJson };
    else leftOut += 1;
    at = skipJsonSpace(body, end);
    if (body[at] === comma) at = skipJsonSpace(body, at + 1);
    else if (body[at] !== closeBracket) return { refusal: problem ?? malformedJson };
  }
  if (skipJsonSpace(body, at + 1) < body.length) return { refusal: malformedJson };
  return problem !== undefined && values.length === 0 ? { refusal: problem } : { value: values, leftOut };
}

/** The refusal of scanned bytes; undefined if they are fine. */
function problemOf({ depthMax, keysMax }: JsonLimits, depthAllowed = depthMax): Reply | undefined {
  if (facts.depth > depthMax) return failure(400, `the body nests deeper than ${depthAllowed} levels`);
  return facts.keys > keysMax ? tooManyKeys(keysMax) : undefined;
}

/** Null characters are not removed here: writing the event replaces them. */
const readValue = (bytes: Buffer) =>
  readLenientValue(bytes, { bits: facts.bits, suspicious: facts.suspicious, nulls: false });

/** A form's fields by name; a repeated field is an array. */
export function readForm(body: Buffer): JsonObject {
  return fieldsOf(new URLSearchParams(body.toString('utf8')));
}

/** The fields of a multipart form. Files are left out. Never throws; settles by the next turn of the event loop. */
export function readMultipart(body: Buffer, contentType: string): Promise<ReadBody> {
  return new Promise((resolve) => {
    const malformed = (): void => resolve({ refusal: malformedForm });
    try {
      const form = new Busboy({
        headers: { 'content-type': contentType },
        // No field is truncated, because the body's size is already limited.
        limits: { fields: parametersMax, fieldSize: body.length, files: 0, parts: parametersMax },
        // A part that fills its buffer makes the parser wait, and it never goes on if the form ends in the same chunk.
        fileHwm: body.length + 1,
      });
      const texts = new URLSearchParams();
      form.on('field', (name, value) => texts.append(name, value));
      form.on('finish', () => resolve({ value: fieldsOf(texts) }));
      form.on('error', malformed);
      form.end(body);
      // The parser waits for nothing but ticks, so a form that is unfinished after them would never be answered.
      setImmediate(malformed);
    } catch {
      malformed();
    }
  });
}

function fieldsOf(form: URLSearchParams): JsonObject {
  const fields = new Map<string, string | string[]>();
  for (const [name, value] of form) {
    if (name === '__proto__') continue;
    const before = fields.get(name);
    if (Array.isArray(before)) before.push(value);
    else if (before !== undefined) fields.set(name, [before, value]);
    else if (fields.size < parametersMax) fields.set(name, value);
  }
  return Object.fromEntries(fields);
}
