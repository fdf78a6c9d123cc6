import type { FastifyRequest } from 'fastify';
import type { TObject, TSchema } from 'typebox';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { didYouMean } from '../../shared/command-line/closest-name.ts';
import { badRequest, notFound } from './api-error.ts';
import { isStorable } from './checked-json.ts';
import type { Endpoint, EndpointInput } from './define-endpoint.ts';
import { explain } from './explain.ts';

const noQuery = Type.Object({});

type Prepared = Pick<EndpointInput<never, never, never>, 'params' | 'query' | 'body'>;

/** Compiles the schemas of an endpoint once. The returned function reads a request's input, or throws a 400. */
export function prepareInput(endpoint: Endpoint): (request: FastifyRequest) => Prepared {
  const checkQuery = endpoint.query === undefined ? undefined : compileCheck(endpoint.query);
  const checkBody = endpoint.body === undefined ? undefined : compileCheck(endpoint.body);
  return (request) => {
    const params = request.params as Record<string, string>;
    // No stored entity can have such an id.
    if (!Object.values(params).every(isStorable)) throw notFound('address');
    const query = readQuery(endpoint.query ?? noQuery, request.query as Record<string, unknown>);
    checkQuery?.(query);
    const body = endpoint.bodyOptional ? (request.body ?? emptyBody(request)) : request.body;
    if (checkBody !== undefined && body === undefined) throw badRequest('a JSON body is required');
    checkBody?.(body);
    return { params, query: query as never, body: body as never };
  };
}

/** A check that throws a 400 with every problem. */
export function compileCheck(schema: TSchema): (value: unknown) => void {
  const check = Compile(schema);
  return (value) => {
    if (check.Check(value)) return;
    const problems = explain(schema, value);
    throw badRequest(problems[0] ?? 'the request does not fit its schema', problems.slice(1).join('; ') || undefined);
  };
}

// A missing body counts as an empty object; a body of `null` does not.
function emptyBody(request: FastifyRequest): unknown {
  return request.body === null ? null : {};
}

const nameCharsShown = 100;

type Property = { readonly type?: string };

/** Converts a query string's texts into the values of its schema. Throws a 400 for an unknown parameter. */
function readQuery(schema: TObject, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(schema.properties, name));
  if (unknown !== undefined) throw badRequest(...unknownParameter(unknown, Object.keys(schema.properties)));
  const values: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const text = given[name];
    if (text === undefined) continue;
    if (typeof text !== 'string') throw badRequest(`${name} must be given once`);
    if (!isStorable(text)) throw badRequest(`${name} must not contain NUL characters or unpaired surrogates`);
    values[name] = convert(name, text, (property as Property).type);
  }
  return values;
}

function unknownParameter(name: string, known: readonly string[]): [message: string, details: string] {
  const details = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`;
  const shown = name.slice(0, nameCharsShown);
  return [`${shown} is not a query parameter of this address${didYouMean(shown, known)}`, details];
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
