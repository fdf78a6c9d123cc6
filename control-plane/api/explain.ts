import { Value } from 'typebox/value';
import type { TSchema } from 'typebox';
import { isJsonObject } from '../../shared/runtime/json.ts';

type Node = TSchema & {
  readonly type?: string;
  readonly title?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Node[];
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Node;
  readonly items?: Node;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
};

const problemsMax = 8;
const listedValuesMax = 12;

/** Explains why `value` does not fit `schema`, one sentence for each field. Empty if it fits. */
export function explain(schema: TSchema, value: unknown): string[] {
  const problems: string[] = [];
  visit(schema, value, '', problems);
  return problems.slice(0, problemsMax);
}

function visit(schema: Node, value: unknown, path: string, problems: string[]): void {
  if (problems.length >= problemsMax || Value.Check(schema as TSchema, value)) return;
  const before = problems.length;
  const inner = withoutNull(schema);
  if (inner.type === 'object' && isJsonObject(value)) visitObject(inner, value, path, problems);
  else if (inner.type === 'array' && Array.isArray(value)) {
    for (const [index, item] of (value as unknown[]).entries())
      visit(inner.items ?? inner, item, `${path}[${index}]`, problems);
  }
  // No member is wrong by itself, so the value as a whole is wrong.
  if (problems.length === before) problems.push(`${path === '' ? 'the body' : path} must be ${expected(schema)}`);
}

function visitObject(schema: Node, value: Readonly<Record<string, unknown>>, path: string, problems: string[]): void {
  const properties = schema.properties ?? {};
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  for (const key of schema.required ?? []) {
    if (!Object.hasOwn(value, key)) problems.push(`${at(key)} is required`);
  }
  for (const [key, item] of Object.entries(value)) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property !== undefined) visit(property, item, at(key), problems);
    else if (schema.additionalProperties === false) problems.push(`${at(key.slice(0, 100))} is not a known field`);
    else if (isJsonObject(schema.additionalProperties)) visit(schema.additionalProperties, item, at(key), problems);
  }
}

/** The schema of a nullable value without null; any other schema unchanged. */
function withoutNull(schema: Node): Node {
  const others = schema.anyOf?.filter((branch) => branch.type !== 'null');
  return others?.length === 1 && others[0] !== undefined ? others[0] : schema;
}

function expected(schema: Node): string {
  if (schema.title !== undefined) return schema.title;
  if (schema.anyOf !== undefined) return schema.anyOf.map(expected).join(' or ');
  if (schema.enum !== undefined) return expectedOneOf(schema.enum);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  switch (schema.type) {
    case 'string':
      return `a string${range(schema.minLength, schema.maxLength, 'characters')}`;
    case 'array':
      return `an array${range(schema.minItems, schema.maxItems, 'items')}${schema.uniqueItems === true ? ', each once' : ''}`;
    case 'number':
    case 'integer':
      return `${schema.type === 'integer' ? 'a whole number' : 'a number'}${range(schema.minimum, schema.maximum, '')}`;
    case 'boolean':
      return 'true or false';
    case 'null':
      return 'null';
    case 'object':
      return 'an object';
    default:
      return 'another value';
  }
}

function expectedOneOf(values: readonly unknown[]): string {
  const listed = values.slice(0, listedValuesMax).map(String).join(', ');
  return `one of ${listed}${values.length > listedValuesMax ? ', …' : ''}`;
}

function range(from: number | undefined, to: number | undefined, unit: string): string {
  const tail = unit === '' ? '' : ` ${unit}`;
  if (from !== undefined && to !== undefined) return ` of ${from} to ${to}${tail}`;
  if (from !== undefined) return ` of at least ${from}${tail}`;
  return to === undefined ? '' : ` of at most ${to}${tail}`;
}
