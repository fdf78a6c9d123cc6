import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

const tests = '{gateway,pipeline,control-plane,shared,bench,deploy}/**/*.test.ts';
const integrationTests = '{gateway,pipeline,control-plane,shared,bench,deploy}/**/*.integration.test.ts';

// No test passes or fails by its duration: these deadlines only end a test that hangs.
const deadlines = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 45_000, interval: 20 } } };

/**
 * Files that take half a minute or more, longest first: a long file that started last would run alone most of the time.
 */
const longFiles = [
  'deploy/repo/console/console',
  'deploy/repo/contributing/contributing',
  'pipeline/pipeline',
  'deploy/local/full-disk',
  'pipeline/workers/dispatch/visitor-order',
  'deploy/local/stack',
  'pipeline/twin-account',
  'pipeline/several-pipelines',
  'pipeline/workers/dispatch/dispatcher',
  'gateway/commit/quorum',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = (await super.sort(files)).filter((file) => placeOf(file) < 0);
    const first = files.filter((file) => placeOf(file) >= 0).toSorted((a, b) => placeOf(a) - placeOf(b));
    return [...first, ...others];
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  return longFiles.findIndex((path) => moduleId.endsWith(`/${path}.integration.test.ts`));
}

export default defineConfig({
  test: {
    // Most files spend half of their time waiting for servers and timers.
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
        },
      },
    ],
  },
});
