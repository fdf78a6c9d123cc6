import { isUtf8 } from 'node:buffer';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { failure, malformedJson, notUtf8 } from '../../http/reply.ts';
import type { Reply } from '../../http/reply.ts';
import { readLenientValue } from '../../payload/lenient-value.ts';
import { tooManyKeys } from '../../payload/read-json.ts';
import type { JsonLimits } from '../../payload/read-json.ts';
import { JsonFacts, scanValue, startOfJson } from '../../../shared/json/scan-json.ts';

/**
 * The object or list of a body, or the refusal of a body that is neither. The flag tells whether the body was repaired.
 */
export type LenientJson =
  | { readonly value: JsonObject | readonly unknown[]; readonly mended: boolean; readonly refusal?: undefined }
  | { readonly refusal: Reply };

const firstNonAscii = 0x80;
// Shared, since only one request is handled at a time.
const facts = new JsonFacts();

/**
 * Reads a body leniently, since refusing it for one bad value would lose up to a hundred messages. Bare `NaN` and
 * `Infinity`, which Python's encoder writes, become null; null characters are removed, and so are keys that would reach
 * a prototype.
 */
export function readLenientJson(body: Buffer, limits: JsonLimits): LenientJson {
  facts.reset();
  scanValue(facts, body, startOfJson(body));
  if (facts.depth > limits.depthMax) return { refusal: nestsTooDeep(limits.depthMax) };
  if (facts.keys > limits.keysMax) return { refusal: tooManyKeys(limits.keysMax) };
  if (facts.bits >= firstNonAscii && !isUtf8(body)) return { refusal: notUtf8 };
  const read = readLenientValue(body, facts);
  if (!isJsonObject(read?.value) && !Array.isArray(read?.value)) return { refusal: malformedJson };
  return { value: read.value, mended: read.mended };
}

const nestsTooDeep = (depthMax: number): Reply => failure(400, `the body nests deeper than ${depthMax} levels`);
