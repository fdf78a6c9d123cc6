import { defineConfig } from 'vitest/config';

const tests = '{gateway,pipeline,control-plane,shared,bench,deploy}/**/*.test.ts';
const integrationTests = '{gateway,pipeline,control-plane,shared,bench,deploy}/**/*.integration.test.ts';

// No duration decides a test: these only end what hangs.
const deadlines = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 45_000, interval: 20 } } };

export default defineConfig({
  test: {
    // Files that wait for servers leave room on two cores for a third.
    pool: 'forks',
    maxWorkers: 3,
    globalSetup: ['shared/testing/build.ts'],
    projects: [
      {
        test: {
          ...deadlines,
          name: 'unit',
          include: [tests],
          exclude: [integrationTests],
          // They share a process, since most are done sooner than one starts: fake timers and variables are put back.
          isolate: false,
        },
      },
      {
        test: {
          ...deadlines,
          name: 'integration',
          include: [integrationTests],
          globalSetup: ['shared/testing/global-setup.ts'],
          // Loading Fastify, MikroORM and the log's client again for each file was a fifth of all that tests cost.
          isolate: false,
        },
      },
    ],
  },
});
