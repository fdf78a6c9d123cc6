import { expect, test } from 'vitest';
import { removedVariables } from '../../../shared/runtime/removed-variables.ts';
import { services, tools } from '../environment/environment-page.ts';

test('variables: there are at most 150, and no removed variable is among them', () => {
  const names = new Set([...services, ...tools].flatMap(({ variables }) => Object.keys(variables)));
  expect(names.size).toBeLessThanOrEqual(150);
  expect([...names].filter((name) => name in removedVariables)).toEqual([]);
});
