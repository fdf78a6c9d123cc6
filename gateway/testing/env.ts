import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import { readEnv } from '../../shared/runtime/env.ts';
import { count } from '../../shared/runtime/variables.ts';

const FuzzEnvSchema = Type.Object({
  FUZZ_CASES: count('Made-up inputs of one test', 4_000),
  FUZZ_SEED: count('Where the sequence of inputs begins', 1),
});

/** How long tests of made-up input go on: `FUZZ_CASES=100000 npm test -- gateway/http/fuzz` is the long run. */
export const readFuzzEnv = () => readEnv(FuzzEnvSchema, process.env, (path) => readFileSync(path, 'utf8'));
