import { isJsonObject } from '../../shared/runtime/json.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { slugOf } from './page.ts';
import type { Page } from './page.ts';

/** The OpenAPI document of one of the two interfaces. */
export type ApiDocument = {
  /** Prefix of the paths of the document's pages, and name of its file. */
  readonly name: 'control-plane' | 'ingest';
  readonly label: string;
  readonly document: JsonObject;
};

type Operation = { readonly method: string; readonly path: string; readonly described: JsonObject };

/** One page per tag of a document; a single page if it has no tags. */
export function apiPages({ name, label, document }: ApiDocument): readonly Page[] {
  const operations = operationsOf(document);
  const tagOf = ({ described }: Operation): string => firstText(described['tags']) ?? '';
  return [...new Set(operations.map(tagOf))].map((tag) => ({
    path: tag === '' ? `api/${name}` : `api/${slugOf(tag)}`,
    label: tag === '' ? label : tag,
    source: undefined,
    markdown: [
      `# ${tag === '' ? label : `API: ${tag}`}`,
      tag === '' ? String(member(document, 'info', 'description')) : about(name),
      ...operations
        .filter((operation) => tagOf(operation) === tag)
        .map((operation) => describeOperation(name, operation, document)),
    ].join('\n\n'),
  }));
}

const about = (name: string): string =>
  `Each request carries an API key as \`Authorization: Bearer slk_…\`. The whole interface as OpenAPI 3.1: \`GET /rest/v1/openapi\`, or [${name}.json](/docs/openapi/${name}.json). Errors and their meaning are the same for every operation: see [API](pages/api.md).`;

function operationsOf(document: JsonObject): readonly Operation[] {
  return Object.entries(objectOf(document['paths'])).flatMap(([path, methods]) =>
    Object.entries(objectOf(methods)).map(([method, described]) => ({ method, path, described: objectOf(described) })),
  );
}

function describeOperation(api: string, { method, path, described }: Operation, document: JsonObject): string {
  const parameters = Array.isArray(described['parameters']) ? described['parameters'].filter(isJsonObject) : [];
  const body = contentSchema(described['requestBody'], document);
  const answers = Object.entries(objectOf(described['responses'])).filter(
    ([status]) => !errorsOfAll.has(status) || api === 'ingest',
  );
  const answer = contentSchema(member(described, 'responses', '200'), document);
  return [
    `## ${text(described['summary']) || text(described['operationId'])}`,
    // The site's script adds a form to this paragraph.
    `<p class="operation" data-api="${api}" data-method="${method}" data-path="${path}"><b>${method.toUpperCase()}</b> <code>${path}</code></p>`,
    text(described['description']),
    parameters.length === 0 ? '' : table(['Parameter', 'Where', 'Type', 'Meaning'], parameters.map(parameterRow)),
    body === undefined ? '' : `**Body**\n\n${fieldsTable(body, document)}`,
    api === 'ingest'
      ? table(
          ['Answer', 'Means'],
          answers.map(([status, one]) => [status, text(member(one, 'description'))]),
        )
      : '',
    answer === undefined ? '' : folded('Answer', answer),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** Statuses that the API page explains once, for all operations. */
const errorsOfAll = new Set(['400', '401', '403', '404', '409', '413', '415', '429', '500', '503']);

function parameterRow(parameter: JsonObject): string[] {
  const schema = objectOf(parameter['schema']);
  return [
    `\`${text(parameter['name'])}\``,
    text(parameter['in']),
    typeOf(schema),
    text(parameter['description']) || text(schema['description']),
  ];
}

/** A table of a body's fields, two levels deep; without fields, the type alone. */
function fieldsTable(schema: JsonObject, document: JsonObject): string {
  const rows = fieldRows(schema, document, '', 0);
  return rows.length === 0 ? typeOf(schema) : table(['Field', 'Type', 'Meaning'], rows);
}

function fieldRows(schema: JsonObject, document: JsonObject, prefix: string, depth: number): string[][] {
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  return Object.entries(objectOf(schema['properties'])).flatMap(([name, given]) => {
    const field = resolve(objectOf(given), document);
    const row = [`\`${prefix}${name}\`${required.has(name) ? ' *' : ''}`, typeOf(field), text(field['description'])];
    const inner = depth === 0 ? nestedOf(field, document) : undefined;
    return inner === undefined
      ? [row]
      : [row, ...fieldRows(inner.schema, document, `${prefix}${name}${inner.mark}.`, 1)];
  });
}

function nestedOf(
  field: JsonObject,
  document: JsonObject,
): { readonly schema: JsonObject; readonly mark: string } | undefined {
  if (isJsonObject(field['properties'])) return { schema: field, mark: '' };
  const items = isJsonObject(field['items']) ? resolve(field['items'], document) : undefined;
  return items !== undefined && isJsonObject(items['properties']) ? { schema: items, mark: '[]' } : undefined;
}

function typeOf(schema: JsonObject): string {
  if (Array.isArray(schema['enum'])) return schema['enum'].map((one) => `\`${String(one)}\``).join(', ');
  if (schema['const'] !== undefined) return `\`${JSON.stringify(schema['const'])}\``;
  for (const key of ['anyOf', 'oneOf']) {
    const variants = schema[key];
    if (Array.isArray(variants)) return [...new Set(variants.filter(isJsonObject).map(typeOf))].join(' or ');
  }
  const { type } = schema;
  if (type === 'array') return `list of ${typeOf(objectOf(schema['items'])) || 'anything'}`;
  const limits = [
    schema['maxLength'] === undefined ? '' : `up to ${text(schema['maxLength'])} characters`,
    schema['default'] === undefined ? '' : `default \`${JSON.stringify(schema['default'])}\``,
  ].filter((part) => part !== '');
  const name = Array.isArray(type) ? type.join(' or ') : text(type) || text(schema['$ref']).replace(/.*\//, '');
  return [name || 'anything', ...limits].join(', ');
}

function contentSchema(holder: unknown, document: JsonObject): JsonObject | undefined {
  const [media] = Object.values(objectOf(member(holder, 'content')));
  const schema = member(media, 'schema');
  return isJsonObject(schema) ? resolve(schema, document) : undefined;
}

function resolve(schema: JsonObject, document: JsonObject): JsonObject {
  const reference = schema['$ref'];
  if (typeof reference !== 'string') return schema;
  return objectOf(member(document, ...reference.replace('#/', '').split('/')));
}

/** JSON in a collapsed block. With blank lines around it, the content of `<details>` is parsed as Markdown. */
const folded = (title: string, value: unknown): string =>
  `<details>\n<summary>${title}</summary>\n\n\`\`\`json\n${JSON.stringify(value, undefined, 2)}\n\`\`\`\n\n</details>`;

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`).replaceAll(/\s*\n\s*/g, ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
const firstText = (value: unknown): string | undefined =>
  Array.isArray(value) && typeof value[0] === 'string' ? value[0] : undefined;

function member(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((at, name) => (isJsonObject(at) ? at[name] : undefined), value);
}
