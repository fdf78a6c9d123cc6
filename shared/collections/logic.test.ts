import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import { logic, logicOperators, logicProblem } from './logic.ts';
import type { Logic } from './logic.ts';

const condition = (operator: (typeof logicOperators)[number], value?: unknown): Logic => ({
  condition: { property: 'event.event', operator, ...(value === undefined ? {} : { value }) },
});

test('logic: takes every operator, alone and nested', () => {
  for (const operator of logicOperators) expect(Value.Check(logic, condition(operator, ['a', 'b']))).toBe(true);
  const nested = { AND: [condition('IsNull'), { OR: [{ NOT: condition('Is', 1) }] }, { AND: [] }] };
  expect(Value.Check(logic, nested)).toBe(true);
  expect(logicProblem(nested as Logic)).toBeUndefined();
});

test.each([
  [{}],
  [{ AND: {} }],
  [{ NOT: [] }],
  [{ AND: [], OR: [] }],
  [{ condition: { property: '', operator: 'Is' } }],
  [{ condition: { property: 'a', operator: 'is' } }],
  [{ condition: { property: 'a', operator: 'Is', values: 1 } }],
])('logic: %j is not a rule', (value) => {
  expect(Value.Check(logic, value)).toBe(false);
});

test.each([
  [condition('MatchesRegex', '^a+$'), undefined],
  [condition('MatchesRegex', '(a+)+$'), undefined],
  [condition('MatchesRegex', '(?=a)'), /RE2/],
  [condition('DoesNotMatchRegexIgnoreCase', '('), /RE2/],
  [condition('MatchesRegex', 3), /expression/],
  [condition('IsBetween', [1, 2]), undefined],
  [condition('IsBetween', [1]), /two values/],
  [{ NOT: { OR: [condition('MatchesRegex', '[')] } }, /RE2/],
  [{ AND: Array.from({ length: 501 }, () => condition('IsNull')) }, /at most 500/],
])('logic: what a schema cannot say of %j', (rule, problem) => {
  const found = logicProblem(rule);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(problem);
});
