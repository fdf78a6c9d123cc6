import { afterAll, beforeAll, expect, test } from 'vitest';
import { documents, endpoints } from '../endpoints.ts';
import { scopeNames } from '../keys/scopes.ts';
import { startTestControlPlane } from '../testing/test-control-plane.ts';
import type { TestControlPlane } from '../testing/test-control-plane.ts';

let plane: TestControlPlane;

beforeAll(async () => {
  plane = await startTestControlPlane();
});
afterAll(() => plane.stop());

type Node = Readonly<Record<string, unknown>>;

function refsOf(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(refsOf);
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) => (key === '$ref' ? [String(value)] : refsOf(value)));
}

test.each(documents)(
  'openapi $name: public, describes every endpoint with its scope, and every reference leads somewhere',
  async (described) => {
    const answer = await fetch(
      `${plane.baseUrl}/rest/v1/openapi${described.name === undefined ? '' : `/${described.name}`}`,
    );
    expect(answer.status).toBe(200);
    const document = (await answer.json()) as {
      openapi: string;
      paths: Readonly<Record<string, Readonly<Record<string, Node>>>>;
      components: { schemas: Node };
    };
    expect(document.openapi).toBe('3.1.0');
    for (const { method, path, id, scope } of described.endpoints) {
      const operation = document.paths[path]?.[method.toLowerCase()];
      const description = scope === undefined ? 'Any key.' : `Scope: \`${scope}\`.`;
      expect(operation).toMatchObject({ operationId: id, description });
      expect(Object.keys(operation?.['responses'] as Node)).toEqual(
        expect.arrayContaining(['200', '400', '401', '403', '404', '500']),
      );
    }
    const refs = refsOf(document);
    expect(refs).toContain('#/components/schemas/Error');
    for (const ref of refs) {
      expect(Object.keys(document.components.schemas)).toContain(ref.replace('#/components/schemas/', ''));
    }
    expect(JSON.stringify(document)).not.toMatch(/"\$defs"|"\$id"/);
  },
);

test('openapi: says what an empty limitedToSourceIds means, wherever the field stands', async () => {
  const document = await (await fetch(`${plane.baseUrl}/rest/v1/openapi`)).text();
  const fields = document.match(/"limitedToSourceIds":\{[^}]*?\}/g) ?? [];
  expect(fields.length).toBeGreaterThanOrEqual(3);
  expect(document.match(/Null or an empty list: every source\./g)).toHaveLength(fields.length);
});

test('endpoints: ids are unique, and every scope that an endpoint requires exists', () => {
  const ids = endpoints.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { scope } of endpoints) expect([undefined, ...scopeNames]).toContain(scope);
});

test('reference: leads to the documentation', async () => {
  const answer = await fetch(`${plane.baseUrl}/rest/v1/reference`, { redirect: 'manual' });
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/docs/api.html']);
});
