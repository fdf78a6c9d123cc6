import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{gateway,pipeline,control-plane,shared,bench,deploy}/**/*.test.ts'],
    // Integration tests start real servers; two files at a time fit two cores.
    pool: 'forks',
    maxWorkers: 2,
    // No duration decides a test: these only end what hangs.
    testTimeout: 120_000,
    expect: { poll: { timeout: 45_000, interval: 20 } },
    hookTimeout: 120_000,
    globalSetup: ['shared/testing/build.ts', 'shared/testing/global-setup.ts'],
  },
});
