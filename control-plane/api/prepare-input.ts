import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TSchema } from 'typebox';
import { badRequest, notFound } from './api-error.ts';
import { isStorable } from './checked-json.ts';
import type { Endpoint, EndpointInput } from './define-endpoint.ts';
import { explain } from './explain.ts';
import { readQuery } from './read-query.ts';

const noQuery = Type.Object({});

type Prepared = Omit<EndpointInput<never, never>, 'principal'>;

/** Compiles an endpoint's schemas once; the function returned takes a request apart or throws a 400. */
export function prepareInput(endpoint: Endpoint): (request: FastifyRequest) => Prepared {
  const checkQuery = endpoint.query === undefined ? undefined : compileCheck(endpoint.query);
  const checkBody = endpoint.body === undefined ? undefined : compileCheck(endpoint.body);
  return (request) => {
    const params = request.params as Record<string, string>;
    // Nothing is called so: what cannot be stored cannot be looked up either.
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

// No body at all counts as an empty object; a body of `null` does not.
function emptyBody(request: FastifyRequest): unknown {
  return request.body === null ? null : {};
}
