import type { TObject } from 'typebox';
import { badRequest } from './api-error.ts';
import { isStorable } from './checked-json.ts';

const nameCharsShown = 100;

type Property = { readonly type?: string };

/** Turns a query string's texts into the values its schema asks for. Throws a 400 for a parameter it does not know. */
export function readQuery(schema: TObject, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(schema.properties, name));
  if (unknown !== undefined) throw badRequest(...unknownParameter(unknown, Object.keys(schema.properties)));
  const values: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const text = given[name];
    if (text === undefined) continue;
    if (typeof text !== 'string') throw badRequest(`${name} must be given once`);
    if (!isStorable(text)) throw badRequest(`${name} must not hold NUL characters or unpaired surrogates`);
    values[name] = convert(name, text, (property as Property).type);
  }
  return values;
}

function unknownParameter(name: string, known: readonly string[]): [message: string, details: string] {
  const details = known.length === 0 ? 'it takes none' : `it takes ${known.join(', ')}`;
  return [`${name.slice(0, nameCharsShown)} is not a query parameter of this address`, details];
}

function convert(name: string, text: string, type: string | undefined): unknown {
  if (type === 'integer') {
    if (!/^[+-]?\d+$/.test(text)) throw badRequest(`${name} must be a whole number`);
    return Math.min(Math.max(Number(text), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
  }
  if (type === 'boolean') {
    if (text !== 'true' && text !== 'false') throw badRequest(`${name} must be true or false`);
    return text === 'true';
  }
  return text;
}
