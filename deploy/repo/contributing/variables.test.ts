import { expect, test } from 'vitest';
import { removedVariables } from '../../../shared/runtime/removed-variables.ts';
import { services, tools } from '../environment/environment-page.ts';

test('variables: there are 150 at most, and none of them is one that was removed', () => {
  const names = new Set([...services, ...tools].flatMap(({ variables }) => Object.keys(variables)));
  expect(names.size).toBeLessThanOrEqual(150);
  expect([...names].filter((name) => name in removedVariables)).toEqual([]);
});
