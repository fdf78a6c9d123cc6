import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

const tests = '{gateway,pipeline,control-plane,shared,bench,deploy}/**/*.test.ts';
const integrationTests = '{gateway,pipeline,control-plane,shared,bench,deploy}/**/*.integration.test.ts';

// No test passes or fails by its duration: these deadlines only end a test that hangs.
const deadlines = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 45_000, interval: 20 } } };

/** Files that take longest, longest first: a long file that started last would run alone most of the time. */
const longFiles = [
  'deploy/repo/console/console.integration',
  'deploy/repo/contributing/contributing.integration',
  'pipeline/pipeline.integration',
  'deploy/local/full-disk.integration',
  'pipeline/workers/dispatch/visitor-order.integration',
  'deploy/local/stack.integration',
  'pipeline/twin-account.integration',
  'pipeline/several-pipelines.integration',
  'pipeline/workers/dispatch/dispatcher.integration',
  'gateway/commit/quorum.integration',
  'pipeline/workers/dispatch/sending/platforms',
  'pipeline/protocol',
];

// Short-lived objects die before they are copied: all unit tests take 7 % less CPU (105.6 to 98.5 s).
const execArgv = ['--max-semi-space-size=64'];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = (await super.sort(files)).filter((file) => placeOf(file) < 0);
    const first = files.filter((file) => placeOf(file) >= 0).toSorted((a, b) => placeOf(a) - placeOf(b));
    return [...first, ...others];
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  return longFiles.findIndex((path) => moduleId.endsWith(`/${path}.test.ts`));
}

export default defineConfig({
  test: {
    // Most files spend half of their time waiting for servers and timers. All tests take nine minutes on two cores, which
    // are busy all the time: half of it in these processes, and 9 % in browsers, 8 in pipelines, 7 in PostgreSQL, 5 in
    // nats-server, 5 in control planes and 4 in the compiler.
    pool: 'forks',
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    globalSetup: ['shared/testing/build.ts'],
    projects: [
      {
        test: {
          ...deadlines,
          name: 'unit',
          include: [tests],
          exclude: [integrationTests],
          // Most files finish sooner than a process starts, so they share one. Fake timers and variables are restored.
          isolate: false,
          execArgv,
        },
      },
      {
        test: {
          ...deadlines,
          name: 'integration',
          include: [integrationTests],
          globalSetup: ['shared/testing/global-setup.ts'],
          setupFiles: ['shared/testing/report-first-counterexample.ts'],
          // Loading Fastify, MikroORM and the log's client again for each file was a fifth of the cost of all tests.
          isolate: false,
          execArgv,
        },
      },
    ],
  },
});
