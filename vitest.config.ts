import { defineConfig } from 'vitest/config';

const tests = '{gateway,pipeline,control-plane,shared,bench,deploy}/**/*.test.ts';
const controlPlaneTests = 'control-plane/**/*.integration.test.ts';
const integrationTests = '{gateway,pipeline,control-plane,shared,bench,deploy}/**/*.integration.test.ts';

// No duration decides a test: these only end what hangs.
const deadlines = { testTimeout: 120_000, hookTimeout: 120_000, expect: { poll: { timeout: 45_000, interval: 20 } } };

export default defineConfig({
  test: {
    // Integration tests start real servers; two files at a time fit two cores.
    pool: 'forks',
    maxWorkers: 2,
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
          exclude: [controlPlaneTests],
          globalSetup: ['shared/testing/global-setup.ts'],
        },
      },
      {
        test: {
          ...deadlines,
          name: 'integration-control-plane',
          include: [controlPlaneTests],
          globalSetup: ['shared/testing/global-setup.ts'],
          // Loading Fastify and MikroORM anew for each file was half of all they took.
          isolate: false,
        },
      },
    ],
  },
});
