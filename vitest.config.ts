import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{gateway,pipeline,control-plane,shared,bench,deploy}/**/*.test.ts'],
    // Integration tests start real servers; two files at a time fit two cores.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    globalSetup: ['shared/testing/global-setup.ts'],
  },
});
