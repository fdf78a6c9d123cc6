import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { additions, names, readEntries } from './testing/entries.ts';
import type { Entry } from './testing/entries.ts';
import { copyTree } from './testing/tree-copy.ts';
import type { TreeCopy } from './testing/tree-copy.ts';

// Makes each kind of addition in a copy of the project, only in the files that its entry in CONTRIBUTING.md names, and
// checks the copy. If an addition here needs another file, its entry changes, too.

let copy: TreeCopy;
let entries: ReadonlyMap<string, Entry>;
beforeAll(async () => {
  copy = await copyTree();
  entries = readEntries(await readFile(join(import.meta.dirname, '../../../CONTRIBUTING.md'), 'utf8'));
});
afterAll(() => copy.remove());

/** Generated files outside of the code, each with its text. */
async function generatedTexts(): Promise<Readonly<Record<string, string>>> {
  const paths = ['deploy/runbook/alerts.md', 'deploy/nats/accounts.conf'];
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await copy.read(path)] as const)));
}

async function add(entry: string): Promise<void> {
  const addition = additions.find((one) => one.entry === entry);
  const said = entries.get(entry);
  if (addition === undefined || said === undefined) throw new Error(`CONTRIBUTING.md has no entry "${entry}"`);
  await addition.add(copy);
  const changed = copy.takeChanged();
  expect(changed.length).toBeGreaterThan(0);
  expect({ entry, notNamed: changed.filter((path) => !names(said, path) && path !== addition.usedIn) }).toEqual({
    entry,
    notNamed: [],
  });
}

test('contributing: exactly the entries that are marked as tested are tested', () => {
  const marked = [...entries].filter(([, { isMarked }]) => isMarked).map(([entry]) => entry);
  expect(additions.map(({ entry }) => entry).toSorted()).toEqual(marked.toSorted());
});

test.each(additions.map(({ entry }) => entry))('contributing: %s is added in the files its entry names', add);

test.each(['types', 'check:layers', 'generate', 'docs'])(
  'contributing: with the additions, `%s` succeeds',
  { timeout: 300_000 },
  async (script) => {
    const before = await generatedTexts();
    const { code, said } = await npmRun(script);
    expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' });
    // `generate`, which a new destination kind needs, changes only the README.
    expect(await generatedTexts()).toEqual(before);
    // The next scripts use the build of `types` and do not build again.
    if (script === 'types') await copy.replace('package.json', '"build": "', '"build": "true # ');
  },
);

test('contributing: the additions are documented', async () => {
  expect(await copy.read('dist/docs/settings.md')).toMatch(/\| `EXAMPLE_MS` \| `20` \| ms \| 1 or more \| How long/);
  expect(await copy.read('dist/docs/metrics.md')).toMatch(
    /sluice_gateway_examples[\s\S]*sluice_resolver_examples_total[\s\S]*sluice_example_turns_total/,
  );
  expect(await copy.read('README.md')).toContain('`ExamplePlatform`');
  expect(await copy.read('dist/docs/destinations/exampleplatform.md')).toContain('| `apiKey` * |');
  expect(await copy.read('dist/docs/destinations/braze.md')).toContain('| `appName` |');
});

const ofContracts = [
  'shared/destinations/common-settings.test.ts',
  'pipeline/workers/dispatch/settlement/retry-policy.test.ts',
  'shared/collections/registry.test.ts',
  'shared/contracts/round-trips.test.ts',
  'shared/contracts/events/resolved-event.test.ts',
  'control-plane/versions/snapshots.test.ts',
  'gateway/env.test.ts',
  'gateway/payload',
  'shared/contracts/events/plain-envelope.test.ts',
  'pipeline/workers/resolve/read-event.test.ts',
  'gateway/status/show-metrics.test.ts',
  'pipeline/status/show-metrics.test.ts',
  'deploy/repo/environment',
  'deploy/docs/outcome-sections.test.ts',
  'deploy/repo/generated-files.test.ts',
  'deploy/helm/values.test.ts',
];
// Only of the kinds that the additions change: these tests take long, and the project itself runs them for all kinds.
const ofKinds = [
  'pipeline/workers/dispatch/sending/platforms.test.ts',
  'shared/destinations/contract.test.ts',
  '-t',
  '^(platforms: )?(ExamplePlatform|Braze) ',
];
test.each([
  ['every contract', ofContracts],
  ['their destination kinds', ofKinds],
])('contributing: the additions pass the tests of %s', async (_what, which) => {
  // One worker loads shared modules only once.
  const { code, said } = await copy.run('npx', 'vitest', 'run', '--project', 'unit', '--maxWorkers', '1', ...which);
  expect({ code, said: code === 0 ? '' : said }).toEqual({ code: 0, said: '' });
  // Without a matching test, all are skipped.
  expect(said).toContain(' passed');
});

const npmRun = (script: string) => copy.run('npm', 'run', '--silent', script);
