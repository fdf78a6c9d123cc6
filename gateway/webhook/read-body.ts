import { parseExact } from '../../shared/json/exact-numbers.ts';
import { isUtf8 } from 'node:buffer';
import { Busboy } from '@fastify/busboy';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { failure, forbiddenKey, malformedJson, notUtf8 } from '../http/reply.ts';
import type { Reply } from '../http/reply.ts';
import { hasForbiddenKey, tooManyKeys } from '../payload/read-json.ts';
import type { JsonLimits } from '../payload/read-json.ts';
import { JsonFacts, scanValue, startOfJson } from '../../shared/json/scan-json.ts';

/** What a body says, or the answer to one that cannot be read. */
export type ReadBody = { readonly value: unknown; readonly refusal?: undefined } | { readonly refusal: Reply };

export type ProviderJsonLimits = JsonLimits & { readonly arrayKeysMax: number };

const parametersMax = 1_000;
const notAContainer = failure(400, 'the body must be a JSON object or an array of them');
const malformedForm = failure(400, 'the body is not a valid form');

const facts = new JsonFacts();

/** Reads a provider's JSON: an object, or an array of them, which may have more keys. */
export function readProviderJson(body: Buffer, limits: ProviderJsonLimits): ReadBody {
  const { depthMax } = limits;
  const start = startOfJson(body);
  const opening = String.fromCharCode(body[start] ?? 0);
  if (opening !== '{' && opening !== '[') return { refusal: start >= body.length ? malformedJson : notAContainer };
  const keysMax = opening === '[' ? limits.arrayKeysMax : limits.keysMax;
  facts.reset();
  scanValue(facts, body, start);
  if (facts.depth > depthMax) return { refusal: failure(400, `the body nests deeper than ${depthMax} levels`) };
  if (facts.keys > keysMax) return { refusal: tooManyKeys(keysMax) };
  if (!isUtf8(body)) return { refusal: notUtf8 };
  const value = parse(body.toString('utf8'));
  if (value === undefined) return { refusal: malformedJson };
  if (facts.suspicious && hasForbiddenKey(value)) return { refusal: forbiddenKey };
  return { value };
}

function parse(text: string): object | undefined {
  try {
    return parseExact(text) as object;
  } catch {
    return undefined;
  }
}

/** A form's fields by name; one that comes several times is an array. */
export function readForm(body: Buffer): JsonObject {
  return fieldsOf(new URLSearchParams(body.toString('utf8')));
}

/** The fields of a multipart form. Files are left out. Never throws. */
export function readMultipart(body: Buffer, contentType: string): Promise<ReadBody> {
  return new Promise((resolve) => {
    const malformed = (): void => resolve({ refusal: malformedForm });
    try {
      const form = new Busboy({
        headers: { 'content-type': contentType },
        // The body is bounded already: of it nothing is cut off.
        limits: { fields: parametersMax, fieldSize: body.length, files: 0, parts: parametersMax },
      });
      const texts = new URLSearchParams();
      form.on('field', (name, value) => texts.append(name, value));
      form.on('finish', () => resolve({ value: fieldsOf(texts) }));
      form.on('error', malformed);
      form.end(body);
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
