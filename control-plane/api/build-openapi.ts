import type { TSchema } from 'typebox';
import type { JsonObject } from '../../shared/runtime/json.ts';
import type { Endpoint } from './define-endpoint.ts';

const failures: Readonly<Record<number, string>> = {
  400: 'The request is not valid; the message names the field, or the unknown query parameter, and the expected value.',
  401: 'The API key is missing, unknown, revoked or expired.',
  403: 'The API key, or the role of the user, lacks the scope.',
  404: 'The account has no such entity.',
  409: 'The name is taken, the only entity of its kind exists already, there is nothing to publish, or a publish without `force` would leave events unsent. With `x-should-retry: false` if a retry cannot help.',
  413: 'The body is larger than 1 MiB.',
  415: 'The body is not application/json.',
  429: 'Too many such requests are in flight; retry later.',
  500: 'Internal error; the answer carries x-request-id.',
  503: 'The database or the log cannot be reached; try again.',
};

const shouldRetry = {
  'x-should-retry': { description: '`false` if a retry cannot help.', schema: { type: 'string' } },
};

/** Operations that are not endpoints: they need no API key and have their own tag. */
export type PublicOperations = { readonly tag: string; readonly paths: JsonObject };

/** The parts of a document of operations. */
export type Described = {
  /** The last part of the document's address, `openapi/<name>`; undefined for the document of the interface itself. */
  readonly name: string | undefined;
  readonly title: string;
  readonly description: string;
  readonly endpoints: readonly Endpoint[];
  readonly publicOperations: readonly PublicOperations[];
};

/** Builds the OpenAPI 3.1 document of the endpoints from the schemas that validate their requests. */
export function buildOpenApi({ title, description, endpoints, publicOperations }: Described): JsonObject {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const operations = (paths[endpoint.path] ??= {});
    operations[endpoint.method.toLowerCase()] = describeOperation(endpoint);
  }
  return {
    openapi: '3.1.0',
    info: { title, version: '1.0.0', description },
    tags: [...new Set([...endpoints, ...publicOperations].map(({ tag }) => tag))].map((name) => ({ name })),
    paths: Object.assign(paths, ...publicOperations.map((operations) => operations.paths)) as JsonObject,
    security: [{ apiKey: [] }],
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key: slk_…' } },
      schemas: {
        Error: {
          type: 'object',
          required: ['error'],
          properties: { error: { type: 'string' }, details: { type: 'string' } },
          additionalProperties: false,
        },
      },
    },
  };
}

function describeOperation(endpoint: Endpoint): JsonObject {
  const { scope } = endpoint;
  const parameters = [
    ...[...endpoint.path.matchAll(/\{(\w+)\}/g)].map((match) => ({
      name: match[1],
      in: 'path',
      required: true,
      schema: { type: 'string' },
    })),
    ...Object.entries(endpoint.query?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: endpoint.query?.required?.includes(name) ?? false,
      schema,
    })),
  ];
  const body =
    endpoint.body === undefined
      ? {}
      : { requestBody: { required: !endpoint.bodyOptional, content: json(endpoint.body) } };
  return {
    operationId: endpoint.id,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: scope === undefined ? 'Any key.' : `Scope: \`${scope}\`.`,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...body,
    responses: {
      200: endpoint.streams
        ? {
            description:
              'Server-sent events until the client disconnects; the data of each event is JSON of this schema.',
            content: { 'text/event-stream': { schema: endpoint.reply } },
          }
        : { description: 'Done.', content: json(endpoint.reply) },
      ...Object.fromEntries(
        Object.entries(failures).map(([status, description]) => [
          status,
          {
            description,
            ...(status === '409' ? { headers: shouldRetry } : {}),
            content: json({ $ref: '#/components/schemas/Error' }),
          },
        ]),
      ),
    },
  };
}

function json(schema: TSchema | JsonObject): JsonObject {
  return { 'application/json': { schema } };
}
