import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { readEnv } from './env.ts';
import { findRemovedVariables, removedVariables } from './removed-variables.ts';
import { count } from './variables.ts';

test('removed variables: a removed variable is reported with its replacement if it is set, and not reported if it is empty', () => {
  const source = { RESULTS_LINGER_MS: '5', CLOCK_JUMP_MS_FILE: '/x', RESOLVER_WRITES_MAX: '', OTHER: '1' };
  expect(findRemovedVariables(source)).toEqual([
    { variable: 'CLOCK_JUMP_MS_FILE', instead: removedVariables['CLOCK_JUMP_MS'] },
    { variable: 'RESULTS_LINGER_MS', instead: removedVariables['RESULTS_LINGER_MS'] },
  ]);
});

test('removed variables: a removed variable with a name like a known one does not prevent a start', () => {
  // Differs by one letter from RESULTS_LINGER_MS, which was removed.
  const schema = Type.Object({ RESULTS_LINGERS_MS: count('Something else', 7) });
  expect(readEnv(schema, { RESULTS_LINGER_MS: '5' }, () => '')).toEqual({ RESULTS_LINGERS_MS: 7 });
  expect(() => readEnv(schema, { RESULTS_LINGERZ_MS: '5' }, () => '')).toThrow('did you mean');
});
