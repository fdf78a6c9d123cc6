import { defineConfig } from 'vitest/config';

// The unit tests, without what they start as processes: nothing is built for each mutant.
export default defineConfig({
  test: {
    include: ['{gateway,pipeline,control-plane,shared}/**/*.test.ts'],
    exclude: ['**/*.integration.test.ts'],
    testTimeout: 30_000,
    isolate: false,
  },
});
