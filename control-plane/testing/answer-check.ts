import { Compile } from 'typebox/compile';
import { isJsonObject } from '../../shared/runtime/json.ts';
import { buildOpenApi } from '../api/build-openapi.ts';
import type { Described } from '../api/build-openapi.ts';

/** Throws if an answer does not match the schema of its operation and status in the OpenAPI document. */
export type AnswerCheck = (method: string, path: string, status: number, body: unknown) => void;

type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
};
type Operation = {
  readonly responses: Readonly<Record<string, { readonly content: { 'application/json': { schema: object } } }>>;
};

/** Checks an answer against the first of the documents that has the operation. */
export function createAnswerCheck(documents: readonly Described[]): AnswerCheck {
  const checks = documents.map(createDocumentCheck);
  return (method, url, status, body) => {
    const path = url.split('?')[0] ?? '';
    if (checks.some((check) => check(method, path, status, body))) return;
    if (status !== 404) throw new Error(`${method} ${path} answered ${status} and is not in the OpenAPI documents`);
  };
}

/** Returns a check for one document; the check returns false if the document does not have the operation. */
function createDocumentCheck(described: Described): (...answer: Parameters<AnswerCheck>) => boolean {
  // Through JSON, as clients get the document.
  const document = JSON.parse(JSON.stringify(buildOpenApi(described))) as Document;
  const definitions = withLocalRefs(document.components.schemas);
  const checks = new Map<string, ReturnType<typeof Compile>>();
  const routes = Object.keys(document.paths)
    // Paths without parameters are matched first.
    .sort((a, b) => Number(a.includes('{')) - Number(b.includes('{')))
    .map((path) => ({ path, matches: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }));
  return (method, path, status, body) => {
    const route = routes.find(({ matches }) => matches.test(path));
    const operation = route === undefined ? undefined : document.paths[route.path]?.[method.toLowerCase()];
    if (route === undefined || operation === undefined) return false;
    const key = `${method} ${route.path} ${status}`;
    let check = checks.get(key);
    if (check === undefined) {
      const schema = operation.responses[String(status)]?.content['application/json'].schema;
      if (schema === undefined) throw new Error(`${key} is not in the OpenAPI document`);
      check = Compile({ ...(withLocalRefs(schema) as object), $defs: definitions });
      checks.set(key, check);
    }
    if (check.Check(body)) return true;
    const [error] = check.Errors(body);
    throw new Error(`${key}: ${error?.instancePath} ${error?.message}: ${JSON.stringify(body).slice(0, 2_000)}`);
  };
}

/** Rewrites references to the document's schemas as references inside one schema. */
function withLocalRefs(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withLocalRefs);
  if (!isJsonObject(node)) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      key === '$ref' && typeof value === 'string'
        ? value.replace('#/components/schemas/', '#/$defs/')
        : withLocalRefs(value),
    ]),
  );
}
