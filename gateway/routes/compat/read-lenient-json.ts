import { parseExact } from '../../../shared/json/exact-numbers.ts';
import { isUtf8 } from 'node:buffer';
import sjson from 'secure-json-parse';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { cleanJson } from '../../../shared/visitors/clean-json.ts';
import { failure, malformedJson, notUtf8 } from '../../http/reply.ts';
import type { Reply } from '../../http/reply.ts';
import { tooManyKeys } from '../../payload/read-json.ts';
import type { JsonLimits } from '../../payload/read-json.ts';
import { JsonFacts, scanValue, startOfJson } from '../../../shared/json/scan-json.ts';

/** A body's object or list, or the answer to a body that is neither. The flag means that it had to be repaired first. */
export type LenientJson =
  | { readonly value: JsonObject | readonly unknown[]; readonly mended: boolean; readonly refusal?: undefined }
  | { readonly refusal: Reply };

const firstNonAscii = 0x80;
// One request is handled at a time.
const facts = new JsonFacts();

/**
 * Reads a body in which one value that is no JSON, or none of ours, would take up to a hundred messages with it: bare
 * `NaN` and `Infinity`, which Python's encoder writes, are read as null; null characters, and keys that would reach a
 * prototype, are left out.
 */
export function readLenientJson(body: Buffer, limits: JsonLimits): LenientJson {
  facts.reset();
  scanValue(facts, body, startOfJson(body));
  if (facts.depth > limits.depthMax) return { refusal: nestsTooDeep(limits.depthMax) };
  if (facts.keys > limits.keysMax) return { refusal: tooManyKeys(limits.keysMax) };
  if (facts.bits >= firstNonAscii && !isUtf8(body)) return { refusal: notUtf8 };
  const text = body.toString(facts.bits < firstNonAscii ? 'latin1' : 'utf8');
  const strict = parse(text);
  const value = strict ?? parse(nullBareNumbers(text));
  if (!isJsonObject(value) && !Array.isArray(value)) return { refusal: malformedJson };
  if (facts.suspicious) sjson.scan(value, { protoAction: 'remove', constructorAction: 'remove' });
  const cleaned = facts.nulls ? (cleanJson({ value })['value'] as typeof value) : value;
  return { value: cleaned, mended: strict === undefined };
}

function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

const bareNumbers = ['NaN', 'Infinity', '-Infinity'] as const;

/** Numbers that JSON does not have, as null, wherever they stand outside of a string. */
export function nullBareNumbers(text: string): string {
  let made = '';
  let copied = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      at = closingQuote(text, at);
    } else if (character === 'N' || character === 'I' || character === '-') {
      const found = bareNumbers.find((word) => text.startsWith(word, at));
      if (found === undefined) continue;
      made += `${text.slice(copied, at)}null`;
      at += found.length - 1;
      copied = at + 1;
    }
  }
  return made + text.slice(copied);
}

function closingQuote(text: string, openingQuote: number): number {
  let at = openingQuote + 1;
  for (; at < text.length && text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
  return at;
}

const nestsTooDeep = (depthMax: number): Reply => failure(400, `the body nests deeper than ${depthMax} levels`);
