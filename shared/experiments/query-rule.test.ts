import { expect, test } from 'vitest';
import { PlanError } from '../routing/values/plan-error.ts';
import { compileQueryRule, regexInputCharsMax } from './query-rule.ts';
import type { QueryRule } from './query-rule.ts';

const holds = (operator: QueryRule['operator'], value: string | undefined, values: readonly string[]): boolean =>
  compileQueryRule({ parameter: 'p', operator, ...(value === undefined ? {} : { value }) }, 'rule')(values);

test.each([
  ['equals', 'a', [['a'], ['b', 'a']], [[], ['A'], ['ab']]],
  ['not_equals', 'a', [[], ['b'], ['ab']], [['a'], ['b', 'a']]],
  ['contains', 'a', [['a'], ['bab'], ['x', 'a']], [[], ['b']]],
  ['exists', undefined, [['a'], ['']], [[]]],
  ['not_exists', undefined, [[]], [['a'], ['']]],
  ['regex', '^a\\d+$', [['a1'], ['b', 'a22']], [[], ['a'], ['xa1']]],
] as const)('query rule: %s %s', (operator, value, holding, failing) => {
  for (const values of holding) expect(holds(operator, value, values)).toBe(true);
  for (const values of failing) expect(holds(operator, value, values)).toBe(false);
});

test('query rule: an operator that compares needs a value', () => {
  for (const operator of ['equals', 'not_equals', 'contains', 'regex'] as const) {
    expect(() => compileQueryRule({ parameter: 'p', operator }, 'rule')).toThrow(PlanError);
    expect(() => compileQueryRule({ parameter: 'p', operator, value: null }, 'rule')).toThrow(PlanError);
  }
});

test('query rule: exists and not_exists take no value', () => {
  for (const operator of ['exists', 'not_exists'] as const) {
    expect(() => compileQueryRule({ parameter: 'p', operator, value: 'x' }, 'rule')).toThrow(PlanError);
    expect(() => compileQueryRule({ parameter: 'p', operator, value: null }, 'rule')).not.toThrow();
  }
});

test('query rule: an expression that RE2 does not know is refused', () => {
  expect(() => compileQueryRule({ parameter: 'p', operator: 'regex', value: '(a)\\1' }, 'rule')).toThrow(PlanError);
});

test('query rule: a regular expression reads only the beginning of a long value', () => {
  expect(holds('regex', 'b', [`${'a'.repeat(regexInputCharsMax - 1)}b`])).toBe(true);
  expect(holds('regex', 'b', [`${'a'.repeat(regexInputCharsMax)}b`])).toBe(false);
});

// With each of these, an engine that backtracks would exceed the test's timeout.
test.each(['(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(.*)*b', '(a?){100}a{100}$', '([a-z]+)*\\d'])(
  'query rule: %s takes bounded time on a value that almost matches',
  (expression) => {
    expect(holds('regex', expression, [`${'a'.repeat(regexInputCharsMax - 1)}!`])).toBe(false);
  },
);
