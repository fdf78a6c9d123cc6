import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TreeCopy } from './tree-copy.ts';

/** Facts of the made-up platform. */
const exampleFacts = `${JSON.stringify(
  {
    facts: [
      {
        name: 'an event goes under its own name',
        message: { type: 'track', event: 'Quiz Done', properties: { score: 7 } },
        sent: { name: 'Quiz Done', properties: { score: 7 } },
        source: 'https://api.example.com/docs',
        checked: '2026-11-22',
      },
    ],
  },
  undefined,
  2,
)}\n`;

/** An addition to a copy of the project, made as its entry in CONTRIBUTING.md describes. */
export type Addition = {
  /** The words in bold with which the entry begins. */
  readonly entry: string;
  /**
   * The file that uses the addition, if the entry does not name it but says "the line that uses it" or "the line that
   * counts".
   */
  readonly usedIn?: string;
  add(copy: TreeCopy): Promise<void>;
};

/** An entry of CONTRIBUTING.md. */
export type Entry = { readonly text: string; readonly isMarked: boolean };

/** The entries of the list in CONTRIBUTING.md, by their words in bold. */
export function readEntries(page: string): ReadonlyMap<string, Entry> {
  const list = page.slice(
    page.indexOf('## What it costs to add something'),
    page.indexOf('### A setting of a service'),
  );
  const entries = list.split(/\n(?=- \*\*)/).slice(1);
  return new Map(
    entries.map((text) => {
      const [, name = '', mark] = /^- \*\*(.+?)\*\*( ✓)?:/.exec(text) ?? [];
      return [name, { text, isMarked: mark !== undefined }];
    }),
  );
}

/** Whether an entry names a path: in full, by a pattern such as `<kind>` or `*-settings.ts`, or by the file's name. */
export function names({ text }: Entry, path: string): boolean {
  const tokens = [...text.matchAll(/`([^`\s]+)`/g)].map(([, token = '']) => token);
  return tokens.some((token) => {
    const pattern = token.replaceAll(/[.+^$()[\]{}|\\]/g, String.raw`\$&`).replaceAll(/<\w+>|\*/g, '[^/]+');
    return new RegExp(`(?:^|/)${pattern}$`).test(path);
  });
}

const example = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, '../examples', `${name}.ts.txt`), 'utf8');

/** An addition for each entry that is marked as tested in CONTRIBUTING.md. */
export const additions: readonly Addition[] = [
  {
    entry: 'a setting of one destination kind',
    async add(copy) {
      const kind = 'shared/destinations/braze/destination.ts';
      await copy.insertBefore(
        kind,
        '  batchSize: batchSize(batch),',
        "  appName: optionalText({ label: 'App', placeholder: '', example: 'shop' }),\n",
      );
      await copy.insertBefore(kind, '  const headers = {', "  const appName = given.appName ?? 'shop';\n");
      await copy.replace(
        kind,
        'authorization: `Bearer ${given.apiKey}`',
        'authorization: `Bearer ${given.apiKey}`, app: appName',
      );
    },
  },
  {
    entry: 'a setting of every destination',
    usedIn: 'pipeline/workers/dispatch/dispatcher-parts.ts',
    async add(copy) {
      const common = 'shared/destinations/common-settings.ts';
      await copy.insertBefore(
        common,
        '/** A prepared destination',
        "export const paceSetting = choice<'fast' | 'slow'>({\n  label: 'Pace',\n  options: [\n    { label: 'Fast', value: 'fast' },\n    { label: 'Slow', value: 'slow' },\n  ],\n  sublabel: 'An example.',\n  fallback: 'fast',\n});\n\n",
      );
      await copy.replace(
        common,
        "  orderSetting.describe('order'),\n",
        "  orderSetting.describe('order'),\n  paceSetting.describe('pace'),\n",
      );
      await copy.replace(
        common,
        '  readonly order: DeliveryOrder;\n',
        "  readonly order: DeliveryOrder;\n  readonly pace?: 'fast' | 'slow';\n",
      );
      await copy.replace(
        common,
        'const prepared = { ...kind.prepare(settings), ',
        "const prepared = { ...kind.prepare(settings), pace: paceSetting.read(settings['pace'], 'pace'), ",
      );
      await copy.replace(
        'pipeline/workers/dispatch/dispatcher-parts.ts',
        "options.target()?.prepared?.order ?? 'visitor'",
        "options.target()?.prepared?.pace === 'slow' ? 'visitor' : (options.target()?.prepared?.order ?? 'visitor')",
      );
    },
  },
  {
    entry: 'a field of a collection',
    async add(copy) {
      const mappings = 'shared/collections/mappings.ts';
      await copy.insertBefore(
        mappings,
        '  isEnabled: Type.Boolean(),',
        '  owner: nullable(Type.String({ maxLength: 250 })),\n',
      );
      await copy.insertBefore(mappings, '    priority: 0,\n    isEnabled: true,', '    owner: null,\n');
    },
  },
  {
    entry: 'a text of the console',
    add: (copy) => copy.replace('control-plane/console/keys/keys-page.tsx', "title: 'Last used'", "title: 'Used last'"),
  },
  {
    entry: 'a gateway route',
    async add(copy) {
      const routes = 'gateway/routes/registry.ts';
      await copy.write('gateway/routes/example.ts', await example('route'));
      await copy.insertBefore(
        routes,
        'import { createPixelRoute }',
        "import { createExampleRoute } from './example.ts';\n",
      );
      await copy.insertBefore(routes, '    createPixelRoute(', '    createExampleRoute(),\n');
      const table = 'gateway/testing/ingest-table.ts';
      await copy.insertBefore(table, 'GET /sluice/settings/:key ', 'GET /example/:token | /example/KEY | | 401 401\n');
    },
  },
  {
    entry: 'a setting of a service',
    usedIn: 'gateway/serve-ingest.ts',
    async add(copy) {
      const variable = "EXAMPLE_MS: count('How long an example takes', 20, { unit: 'ms' })";
      const declared = `  exampleMs: fromEnv({ ${variable} }),\n`;
      await copy.insertBefore('gateway/status/status-settings.ts', '  canaryEveryMs', declared);
      const used = 'readGatewayStatusSettings(env).exampleMs + ';
      await copy.insertBefore('gateway/serve-ingest.ts', 'canaryEveryMs, timeoutMs', used);
    },
  },
  {
    entry: 'a metric of gateway or control plane',
    async add(copy) {
      const declared = "  examples: gauge('sluice_gateway_examples', 'Examples there are'),\n";
      await copy.insertBefore('gateway/status/metrics.ts', '  requestsOpen: gauge(', declared);
      const shown = '  page.show(gatewayMetrics.examples, (add) => add(1));\n';
      await copy.insertBefore('gateway/status/show-metrics.ts', '  page.show(gatewayMetrics.requestsOpen', shown);
    },
  },
  {
    entry: 'the retry policy',
    async add(copy) {
      const policy = 'pipeline/workers/dispatch/settlement/retry-policy.ts';
      await copy.insertBefore(
        policy,
        'const firstDelayMinMs',
        '/** An event is attempted no more often than this. */\nconst attemptsMax = 1_000;\n',
      );
      await copy.replace(policy, 'if (nowMs >= endMs || ', 'if (counted.attempts >= attemptsMax || nowMs >= endMs || ');
      const test = 'pipeline/workers/dispatch/settlement/retry-policy.test.ts';
      await copy.write(
        test,
        (await copy.read(test)) +
          "\ntest('retry policy: an event is attempted a thousand times at most', () => {\n" +
          "  expect([999, 1_000].map((attempts) => stepAfter(attempts, 1).kind)).toEqual(['again', 'dead letter']);\n" +
          '});\n',
      );
    },
  },
  {
    entry: 'a counter of a worker',
    usedIn: 'pipeline/workers/resolve/frame-intake.ts',
    async add(copy) {
      const counters = 'pipeline/workers/resolve/resolver-context.ts';
      await copy.insertBefore(counters, "  frames: 'Ingest frames received',", "  examples: 'Examples of frames',\n");
      await copy.insertBefore(
        'pipeline/workers/resolve/frame-intake.ts',
        '    counts.frames += ',
        '    counts.examples += 1;\n',
      );
    },
  },
  {
    entry: 'a kind of worker',
    async add(copy) {
      const workers = 'pipeline/workers/registry.ts';
      await copy.write('pipeline/workers/example/worker.ts', await example('worker'));
      await copy.insertBefore(
        workers,
        'import { resolverWorker }',
        "import { exampleWorker } from './example/worker.ts';\n",
      );
      await copy.insertBefore(workers, 'resultsWorker]', 'exampleWorker, ');
      await copy.insertBefore('deploy/repo/layers/layers.ts', "    'workers/recent',\n", "    'workers/example',\n");
    },
  },
  {
    entry: 'a payload field',
    async add(copy) {
      const row =
        "  groupId: { rule: 'text', charactersMax: 400, ...ofEvents, resolver: 'parsed', about: 'An example' },\n";
      await copy.insertBefore('shared/contracts/ingest/payload-fields.ts', '  time: { rule:', row);
      await copy.insertBefore(
        'pipeline/workers/resolve/read-touch.ts',
        '  if (consent !== undefined) given.push({ consent });',
        "  if (typeof envelope.body.groupId === 'string') given.push({ custom_properties: { group_id: envelope.body.groupId } });\n",
      );
      const scanner = 'gateway/payload/scan-body.ts';
      await copy.insertBefore(
        scanner,
        '      time: this.time,',
        '      groupId: this.#text(textField.groupId, bytes, encoding),\n',
      );
      const track = 'gateway/payload/read-plain-track.ts';
      await copy.replace(track, 'distinctId, time } = event', 'distinctId, groupId, time } = event');
      await copy.replace(track, 'distinctId, time, tokenStart', 'distinctId, groupId, time, tokenStart');
    },
  },
  {
    // The example adds the account, which every line of the log has anyway.
    entry: "a field of the resolved event's head",
    async add(copy) {
      const head = 'shared/contracts/events/resolved-event.ts';
      await copy.insertBefore(head, '  readonly isTest: boolean;', '  readonly accountId: string;\n');
      const asked = 'readText(headMarks.accountId, lastTexts.accountId)';
      await copy.replace(head, `${asked} === undefined`, 'accountId === undefined');
      await copy.insertBefore(head, '  if (receivedAtMs === undefined', `  const accountId = ${asked};\n`);
      const returned = 'return { id, name, visitorId, sourceId, ';
      await copy.replace(head, returned, `${returned}accountId, `);
      await copy.insertBefore(head, '    receivedAtMs: event.received_at,', '    accountId: event.account_id,\n');
    },
  },
  {
    entry: 'a configuration collection',
    async add(copy) {
      const collections = 'shared/collections/registry.ts';
      await copy.write('shared/collections/example-notes.ts', await example('collection'));
      await copy.insertBefore(
        collections,
        'import { mappings }',
        "import { exampleNotes } from './example-notes.ts';\n",
      );
      await copy.insertBefore(collections, '  mappings,\n', '  exampleNotes,\n');
      const reader =
        "  exampleNotes: { file: resolvePlan, effect: ({ collections }) => collections.exampleNotes, entity: { id: 'n' } },\n";
      await copy.insertBefore(
        'deploy/repo/contributing/collection-readers.test.ts',
        '  allowedEvents: {\n    file',
        reader,
      );
    },
  },
  {
    entry: 'a destination kind',
    async add(copy) {
      const kinds = 'shared/destinations/registry.ts';
      await copy.write('shared/destinations/example-platform/destination.ts', await example('destination'));
      await copy.write('shared/destinations/example-platform/platform.ts', await example('platform'));
      await copy.write('shared/destinations/example-platform/facts.json', exampleFacts);
      const imported = "import { examplePlatform } from './example-platform/destination.ts';\n";
      await copy.insertBefore(kinds, 'import { facebook }', imported);
      await copy.insertBefore(kinds, '  facebook,\n', '  examplePlatform,\n');
      await copy.insertBefore(
        'shared/collections/destination-types.ts',
        '  AWSKinesis AWSLambda',
        '  ExamplePlatform\n',
      );
    },
  },
  {
    entry: 'a control-plane endpoint',
    async add(copy) {
      const endpoints = 'control-plane/endpoints.ts';
      await copy.write('control-plane/audit/read-example.ts', await example('endpoint'));
      const imported = "import { readExample } from './audit/read-example.ts';\n";
      await copy.insertBefore(endpoints, 'import { collectionEndpoints }', imported);
      await copy.insertBefore(endpoints, '  ...auditEndpoints,\n', '  readExample,\n');
      const table = 'control-plane/testing/route-table.ts';
      await copy.insertBefore(table, 'GET    /activity  ', 'GET    /example  audit:list\n');
    },
  },
];
