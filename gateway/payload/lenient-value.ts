import sjson from 'secure-json-parse';
import { parseExact } from '../../shared/json/exact-numbers.ts';
import type { JsonFacts } from '../../shared/json/scan-json.ts';
import { cleanJson } from '../../shared/visitors/clean-json.ts';

const firstNonAscii = 0x80;

/**
 * Reads a value of a scanned body leniently, since its sender does not correct refused data: bare `NaN` and `Infinity`
 * become null; null characters, and keys that would reach a prototype, are removed. Undefined if it is not JSON.
 */
export function readLenientValue(
  bytes: Buffer,
  { bits, suspicious, nulls }: Pick<JsonFacts, 'bits' | 'suspicious' | 'nulls'>,
): { readonly value: unknown; readonly mended: boolean } | undefined {
  const text = bytes.toString(bits < firstNonAscii ? 'latin1' : 'utf8');
  const strict = parse(text);
  const value = strict === undefined ? parse(nullBareNumbers(text)) : strict;
  if (value === undefined) return undefined;
  if (suspicious && typeof value === 'object' && value !== null) {
    sjson.scan(value, { protoAction: 'remove', constructorAction: 'remove' });
  }
  return { value: nulls ? cleanJson({ value })['value'] : value, mended: strict === undefined };
}

function parse(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

const bareNumbers = ['NaN', 'Infinity', '-Infinity'] as const;

/** Replaces `NaN`, `Infinity` and `-Infinity`, which are not JSON, by null outside of strings. */
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
