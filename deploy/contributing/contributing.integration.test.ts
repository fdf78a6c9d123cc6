import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyTree } from './testing/tree-copy.ts';
import type { TreeCopy } from './testing/tree-copy.ts';

// Adds one of each to a copy of the project, in the places that CONTRIBUTING.md names and nowhere else, and has the copy
// checked. Whoever has to change this test to add a line somewhere else changes the table there too.

const example = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, 'examples', `${name}.ts.txt`), 'utf8');

let copy: TreeCopy;
beforeAll(async () => {
  copy = await copyTree();
});
afterAll(() => copy.remove());

// Types, layers and the build are made twice; a busy machine takes its time.
const timeoutMs = 300_000;

test(
  'contributing: a destination kind, a collection, a route, an endpoint and a setting are added as the table says',
  { timeout: timeoutMs },
  async () => {
    const kinds = 'shared/destinations/registry.ts';
    await copy.write('shared/destinations/example-platform/destination.ts', await example('destination'));
    await copy.insertBefore(
      kinds,
      'import { facebook }',
      "import { examplePlatform } from './example-platform/destination.ts';\n",
    );
    await copy.insertBefore(kinds, '  facebook,\n', '  examplePlatform,\n');

    const collections = 'shared/collections/registry.ts';
    await copy.write('shared/collections/example-notes.ts', await example('collection'));
    await copy.insertBefore(collections, 'import { mappings }', "import { exampleNotes } from './example-notes.ts';\n");
    await copy.insertBefore(collections, '  mappings,\n', '  exampleNotes,\n');
    await copy.insertBefore('shared/contracts/config/account-config.ts', "  'mappings',\n", "  'exampleNotes',\n");

    const routes = 'gateway/routes/registry.ts';
    await copy.write('gateway/routes/example.ts', await example('route'));
    await copy.insertBefore(
      routes,
      'import { createPixelRoute }',
      "import { createExampleRoute } from './example.ts';\n",
    );
    await copy.insertBefore(routes, '    createPixelRoute(', '    createExampleRoute(),\n');

    const endpoints = 'control-plane/endpoints.ts';
    await copy.write('control-plane/audit/read-example.ts', await example('endpoint'));
    await copy.insertBefore(
      endpoints,
      'import { collectionEndpoints }',
      "import { readExample } from './audit/read-example.ts';\n",
    );
    await copy.insertBefore(endpoints, '  ...auditEndpoints,\n', '  readExample,\n');

    const slice = 'gateway/status/status-settings.ts';
    await copy.insertBefore(
      slice,
      '  CANARY_EVERY_MS',
      "  EXAMPLE_MS: count('How long an example takes', 20, { unit: 'ms' }),\n",
    );

    const checks = [['types'], ['check:layers'], ['generate']] as const;
    for (const [script] of checks) expect({ script, ...(await npmRun(script)) }).toMatchObject({ script, code: 0 });
    expect(await copy.read('deploy/ENVIRONMENT.md')).toMatch(
      /\| `EXAMPLE_MS` +\| `20` +\| ms +\| 1 or more +\| How long/,
    );
  },
);

test('contributing: what was added keeps every contract', { timeout: timeoutMs }, async () => {
  const files = [
    'shared/destinations/contract.test.ts',
    'shared/destinations/common-settings.test.ts',
    'shared/collections/registry.test.ts',
    'control-plane/versions/snapshots.test.ts',
    'gateway/env.test.ts',
    'deploy/environment',
    'deploy/generated-files.test.ts',
    'deploy/helm/values.test.ts',
  ];
  const { code, said } = await copy.run('npx', 'vitest', 'run', ...files);
  expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' });
});

const npmRun = (script: string) => copy.run('npm', 'run', '--silent', script);
