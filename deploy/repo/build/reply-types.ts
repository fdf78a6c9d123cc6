import { buildOpenApi } from '../../../control-plane/api/build-openapi.ts';
import { documents } from '../../../control-plane/endpoints.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { isJsonObject } from '../../../shared/runtime/json.ts';

/** The console's types of the replies of the configuration interface, generated from its OpenAPI document. */
export function replyTypes(): string {
  // Documents with a name describe APIs for other services' libraries.
  const own = documents.filter(({ name }) => name === undefined).map(buildOpenApi);
  const members = own
    .flatMap((document) => [...operationsOf(document)])
    .map(([id, schema]) => `readonly ${id}: ${typeOf(schema)};`);
  return [
    '// Made by the build from the OpenAPI document; not to be edited.',
    '',
    '/** The reply of each operation of the configuration interface, by its id. Times are ISO 8601 unless described as ms. */',
    `export type Replies = {\n${members.join('\n')}\n};`,
    '',
  ].join('\n');
}

/** Operations with JSON replies. Collections are left out: the console does not use their types. */
function* operationsOf(document: JsonObject): Generator<[id: string, schema: JsonObject]> {
  for (const [path, operations] of Object.entries(document['paths'] as JsonObject)) {
    if (path.startsWith('/rest/v1/collections/') || !isJsonObject(operations)) continue;
    for (const operation of Object.values(operations)) {
      const id = memberOf(operation, 'operationId');
      const content = memberOf(memberOf(memberOf(operation, 'responses'), '200'), 'content');
      const [media] = isJsonObject(content) ? Object.values(content) : [];
      const schema = memberOf(media, 'schema');
      if (typeof id === 'string' && isJsonObject(schema)) yield [id, schema];
    }
  }
}

const memberOf = (value: unknown, name: string): unknown => (isJsonObject(value) ? value[name] : undefined);

/** A schema as a TypeScript type. Unsupported schemas become `unknown`, whose values code must check. */
export function typeOf(schema: unknown): string {
  if (!isJsonObject(schema)) return 'unknown';
  const { anyOf, enum: values, type } = schema;
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (Array.isArray(anyOf)) return anyOf.map(typeOf).join(' | ');
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  switch (type) {
    case 'object':
      return objectType(schema);
    case 'array':
      return `readonly (${typeOf(schema['items'])})[]`;
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return type;
    default:
      return 'unknown';
  }
}

function objectType({ properties, required, patternProperties, additionalProperties }: JsonObject): string {
  if (isJsonObject(properties) && Object.keys(properties).length > 0) {
    const needed = new Set(Array.isArray(required) ? required : []);
    const members = Object.entries(properties).map(
      ([name, one]) => `readonly ${JSON.stringify(name)}${needed.has(name) ? '' : '?'}: ${typeOf(one)};`,
    );
    return `{ ${members.join(' ')} }`;
  }
  const [pattern] = isJsonObject(patternProperties) ? Object.values(patternProperties) : [];
  return `Readonly<Record<string, ${typeOf(pattern ?? additionalProperties)}>>`;
}
