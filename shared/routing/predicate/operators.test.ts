import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { operatorNames } from './operator-names.ts';
import { isOperatorName, operators } from './operators.ts';
import type { OperandKind } from './operands.ts';
import type { OperatorName } from './operator-names.ts';
import { PlanError } from '../values/plan-error.ts';
import { operatorCases } from './testing/operator-cases.ts';

describe.each(Object.entries(operatorCases))('%s', (name, cases) => {
  test.each(cases)(`${name}: %j with %j is %s`, (actual, value, holds) => {
    expect(operators[name as OperatorName].compile(value, 'value')(actual)).toBe(holds);
  });
});

test('operators: there are the 31 of the contract, each with a summary', () => {
  expect(operatorNames).toHaveLength(31);
  for (const name of operatorNames) expect(operators[name].summary).toMatch(/\.$/);
  expect(isOperatorName('Is')).toBe(true);
  expect(isOperatorName('toString')).toBe(false);
  expect(isOperatorName(5)).toBe(false);
});

test('operators: each operator accepts a value of its kind and refuses a missing value', () => {
  const values: Readonly<Record<OperandKind, unknown>> = {
    nothing: undefined,
    value: null,
    text: 'a',
    number: '1',
    date: '2026-01-31',
    list: ['a', 'b'],
    range: '1,2',
    expression: '^a',
  };
  for (const name of operatorNames) {
    const { takes, compile } = operators[name];
    expect([name, compile(values[takes], 'value')(undefined)]).toEqual([name, /^Is(Falsy|Undefined)$/.test(name)]);
    if (takes !== 'nothing') expect(() => compile(undefined, 'value')).toThrow(PlanError);
  }
});

test.each<[OperatorName, unknown]>([
  ['Is', undefined],
  ['Is', ['a']],
  ['Is', {}],
  ['Contains', ''],
  ['StartsWith', null],
  ['EndsWith', undefined],
  ['IsGreaterThan', 'many'],
  ['IsLessThan', null],
  ['IsLessThanOrEqual', undefined],
  ['IsGreaterThanOrEqual', true],
  ['IsIn', ''],
  ['IsIn', ' , '],
  ['IsNotIn', []],
  ['IsIn', [{}]],
  ['IsFoundIn', undefined],
  ['IsBefore', 'tomorrow'],
  ['IsAfter', '2026-02-30'],
  ['IsOnOrAfter', ''],
  ['IsBetween', '1'],
  ['IsBetween', '1,2,3'],
  ['IsBetween', '2,1'],
  ['IsBetween', ['2026-01-02', '2026-01-01']],
  ['IsBetween', '1,2026-01-01'],
  ['MatchesRegex', '('],
  ['MatchesRegex', ''],
  ['DoesNotMatchRegex', '(?=a)'],
  ['Is', 'x'.repeat(10_001)],
  ['IsIn', Array.from({ length: 1_001 }, (_, index) => index)],
])('operators: a value that does not fit is refused with its field: %s refuses %j', (name, value) => {
  const compile = (): unknown => operators[name].compile(value, 'logic.condition.value');
  expect(compile).toThrow(PlanError);
  expect(compile).toThrow(/^logic\.condition\.value /);
});

describe('operators: property', () => {
  const operatorName = fc.constantFrom(...operatorNames);
  const actual = fc.option(fc.jsonValue(), { nil: undefined });

  test('operators: each operator decides on any JSON value, and throws only PlanError for an operand that it refuses', () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('1,2', '2026-01-01', '5', 'a'));
    fc.assert(
      fc.property(operatorName, value, actual, (name, operand, property) => {
        try {
          expect(operators[name].compile(operand, 'value')(property)).toBeTypeOf('boolean');
        } catch (error) {
          expect(error).toBeInstanceOf(PlanError);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test.each<[OperatorName, OperatorName]>([
    ['Is', 'IsNot'],
    ['Contains', 'DoesNotContain'],
    ['IsIn', 'IsNotIn'],
    ['IsFoundIn', 'IsNotFoundIn'],
    ['MatchesRegex', 'DoesNotMatchRegex'],
    ['MatchesRegexIgnoreCase', 'DoesNotMatchRegexIgnoreCase'],
  ])(
    '%s and %s: exactly one operator holds for a present property, and neither for a missing property',
    (positive, negative) => {
      fc.assert(
        fc.property(fc.constantFrom('a', '5', 'true', '1,2'), fc.jsonValue(), (value, property) => {
          const holds = operators[positive].compile(value, 'value');
          const holdsNot = operators[negative].compile(value, 'value');
          expect(holds(property)).toBe(!holdsNot(property));
          expect(holds(undefined) || holdsNot(undefined)).toBe(false);
        }),
      );
    },
  );

  test('operators: IsUndefined and IsFalsy alone hold for a missing property', () => {
    const values = ['a', '5', '2026-01-01', '1,2', ''];
    const holding = operatorNames.filter((name) =>
      values.some((value) => {
        try {
          return operators[name].compile(value, 'value')(undefined);
        } catch {
          return false;
        }
      }),
    );
    expect(holding).toEqual(['IsFalsy', 'IsUndefined']);
  });
});
