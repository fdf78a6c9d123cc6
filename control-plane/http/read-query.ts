import type { TObject } from 'typebox';
import { badRequest } from './api-error.ts';
import { isStorable } from './checked-json.ts';

type Property = { readonly type?: string };

/** Turns a query string's texts into the values its schema asks for; parameters it does not know are left out. */
export function readQuery(schema: TObject, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
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
