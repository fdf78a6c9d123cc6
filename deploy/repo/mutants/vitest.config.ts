import { defineConfig } from 'vitest/config';

// The unit tests without those that start processes, so that nothing is built for each mutant.
export default defineConfig({
  test: {
    // Relative to the folder of a room's tests, or to the repository's root.
    include: ['**/*.test.ts'],
    exclude: ['**/*.integration.test.ts', '**/node_modules/**', '{dist,bench,deploy}/**'],
    testTimeout: 30_000,
    isolate: false,
  },
});
