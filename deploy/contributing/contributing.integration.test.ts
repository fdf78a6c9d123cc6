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

test('contributing: one of each thing is added as the table says', { timeout: timeoutMs }, async () => {
  const kinds = 'shared/destinations/registry.ts';
  await copy.write('shared/destinations/example-platform/destination.ts', await example('destination'));
  await copy.write('shared/destinations/example-platform/platform.ts', await example('platform'));
  await copy.insertBefore(
    kinds,
    'import { facebook }',
    "import { examplePlatform } from './example-platform/destination.ts';\n",
  );
  await copy.insertBefore(kinds, '  facebook,\n', '  examplePlatform,\n');
  await copy.insertBefore('shared/collections/destination-types.ts', '  AWSKinesis AWSLambda', '  ExamplePlatform\n');

  const collections = 'shared/collections/registry.ts';
  await copy.write('shared/collections/example-notes.ts', await example('collection'));
  await copy.insertBefore(collections, 'import { mappings }', "import { exampleNotes } from './example-notes.ts';\n");
  await copy.insertBefore(collections, '  mappings,\n', '  exampleNotes,\n');

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
  await copy.insertBefore('gateway/start-gateway.ts', 'env.CANARY_EVERY_MS', 'env.EXAMPLE_MS + ');

  await copy.insertBefore(
    'gateway/status/metrics.ts',
    '  requestsOpen: gauge(',
    "  examples: gauge('sluice_gateway_examples', 'Examples there are'),\n",
  );
  await copy.insertBefore(
    'gateway/status/show-metrics.ts',
    '  page.show(gatewayMetrics.requestsOpen',
    '  page.show(gatewayMetrics.examples, (add) => add(1));\n',
  );

  const workers = 'pipeline/workers/registry.ts';
  await copy.write('pipeline/workers/example/worker.ts', await example('worker'));
  await copy.insertBefore(
    workers,
    'import { resolverWorker }',
    "import { exampleWorker } from './example/worker.ts';\n",
  );
  await copy.insertBefore(workers, 'resultsWorker]', 'exampleWorker, ');
  await copy.insertBefore('deploy/layers/layers.ts', "    'workers/recent',\n", "    'workers/example',\n");

  // Of the head: the account, which is in every line.
  const head = 'shared/contracts/events/resolved-event.ts';
  await copy.insertBefore(head, '  readonly isTest: boolean;', '  readonly accountId: string;\n');
  const asked = 'readText(headMarks.accountId, lastTexts.accountId)';
  await copy.replace(head, `${asked} === undefined`, 'accountId === undefined');
  await copy.insertBefore(head, '  if (receivedAtMs === undefined', `  const accountId = ${asked};\n`);
  await copy.replace(
    head,
    'return { id, name, visitorId, sourceId, ',
    'return { id, name, visitorId, sourceId, accountId, ',
  );
  await copy.insertBefore(head, '    receivedAtMs: event.received_at,', '    accountId: event.account_id,\n');

  const checks = [['types'], ['check:layers'], ['generate'], ['docs']] as const;
  for (const [script] of checks) expect({ script, ...(await npmRun(script)) }).toMatchObject({ script, code: 0 });
  expect(await copy.read('dist/docs/settings.md')).toMatch(/\| `EXAMPLE_MS` \| `20` \| ms \| 1 or more \| How long/);
  expect(await copy.read('dist/docs/metrics.md')).toMatch(/sluice_gateway_examples[\s\S]*sluice_example_turns_total/);
});

test('contributing: what was added keeps every contract', { timeout: timeoutMs }, async () => {
  const files = [
    'shared/destinations/contract.test.ts',
    'shared/destinations/common-settings.test.ts',
    'pipeline/workers/dispatch/sending/platforms.test.ts',
    'shared/collections/registry.test.ts',
    'shared/contracts/round-trips.test.ts',
    'shared/contracts/events/resolved-event.test.ts',
    'control-plane/versions/snapshots.test.ts',
    'gateway/env.test.ts',
    'gateway/status/show-metrics.test.ts',
    'pipeline/status/show-metrics.test.ts',
    'deploy/environment',
    'deploy/generated-files.test.ts',
    'deploy/helm/values.test.ts',
  ];
  // One worker loads what they share once.
  const run = ['vitest', 'run', '--project', 'unit', '--maxWorkers', '1'];
  const { code, said } = await copy.run('npx', ...run, ...files);
  expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' });
});

const npmRun = (script: string) => copy.run('npm', 'run', '--silent', script);
