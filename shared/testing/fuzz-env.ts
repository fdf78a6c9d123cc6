import { defineEnv } from '../runtime/env.ts';
import { count } from '../runtime/variables.ts';

/** How much generated input a test uses; `FUZZ_CASES=100000 npx vitest run gateway/http/fuzz` is a long run. */
export const readFuzzEnv = (usualCases: number) =>
  defineEnv({
    FUZZ_CASES: count('Generated inputs of one test', usualCases),
    FUZZ_SEED: count('Where the sequence of inputs begins', 1),
  }).read();
