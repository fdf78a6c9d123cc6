import { parseExact } from '../../shared/json/exact-numbers.ts';
import { isUtf8 } from 'node:buffer';
import sjson from 'secure-json-parse';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { isJsonObject } from '../../shared/runtime/json.ts';
import type { ScanProblem } from './scan-body.ts';
import { BodyScan, scanBody } from './scan-body.ts';
import type { JsonFacts } from '../../shared/json/scan-json.ts';
import type { Reply } from '../http/reply.ts';
import { failure, forbiddenKey, holdsNull, malformedJson, notUtf8, unauthorized } from '../http/reply.ts';
import { payloadFields } from '../../shared/contracts/ingest/payload-fields.ts';

/** Limits of a body, beyond which parsing it costs too much. */
export type JsonLimits = { readonly depthMax: number; readonly keysMax: number };

/** The object in a body, or the refusal of a body that is not an object. */
export type ReadJson = { readonly value: JsonObject; readonly refusal?: undefined } | { readonly refusal: Reply };

const firstNonAscii = 0x80;

/** Reads the body of a single event. The findings of the scan stay in `scan`. */
export function readJson(scan: BodyScan, body: Buffer, limits: JsonLimits): ReadJson {
  const problem = scanBody(scan, body);
  if (problem !== undefined) return { refusal: scanRefusal(problem) };
  const { facts } = scan;
  if (facts.depth > limits.depthMax) return { refusal: tooDeep(scan, body, limits.depthMax) };
  if (facts.keys > limits.keysMax) return { refusal: tooManyKeys(limits.keysMax) };
  if (facts.nulls) return { refusal: holdsNull };
  if (facts.bits >= firstNonAscii && !isUtf8(body)) return { refusal: notUtf8 };
  const value = parse(body, facts);
  if (value === undefined) return { refusal: malformedJson };
  if (facts.suspicious && hasForbiddenKey(value)) return { refusal: forbiddenKey };
  return { value };
}

/** The object in a scanned body; undefined if the body is not a JSON object. */
export function parse(body: Buffer, facts: JsonFacts): JsonObject | undefined {
  // Plain ASCII, the usual case, needs no decoding.
  const text = facts.bits < firstNonAscii ? body.toString('latin1') : body.toString('utf8');
  try {
    const value = parseExact(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a key in the value, at any depth, would reach a prototype when the value is copied key by key. */
export function hasForbiddenKey(value: object): boolean {
  try {
    sjson.scan(value, { protoAction: 'error', constructorAction: 'error' });
    return false;
  } catch {
    return true;
  }
}

const notObject = failure(400, 'the body must be a JSON object');
const duplicateKey = failure(400, 'the body names token or events twice');

/** The answer to a body whose scan found a problem. */
export function scanRefusal(problem: ScanProblem): Reply {
  switch (problem) {
    case 'malformed':
      return malformedJson;
    case 'not_object':
      return notObject;
    case 'unknown_token':
      return unauthorized;
    case 'duplicate_key':
      return duplicateKey;
  }
}

export const tooDeep = (scan: BodyScan, body: Buffer, depthMax: number): Reply =>
  failure(400, `${deepField(scan, body) ?? 'the body'} nests deeper than ${depthMax} levels`);
export const tooManyKeys = (keysMax: number): Reply => failure(400, `the body has more than ${keysMax} keys`);

/** Fields of the API: answers repeat no other name that a client sends. */
const knownFields: ReadonlySet<string> = new Set(Object.keys(payloadFields));

/** The field that nests deepest in the body scanned last; undefined if the API does not know the field. */
function deepField({ deepStart, deepEnd }: BodyScan, body: Buffer): string | undefined {
  const name = deepStart < 0 ? '' : body.toString('latin1', deepStart, deepEnd);
  return knownFields.has(name) ? name : undefined;
}

// For refused rows only: the scan of a batch does not distinguish fields of rows.
const rowScan = new BodyScan();

/** Like `deepField`, for a row of a batch. */
export function deepFieldOfRow(row: Buffer): string | undefined {
  scanBody(rowScan, row);
  return deepField(rowScan, row);
}
