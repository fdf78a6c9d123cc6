import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Compile } from 'typebox/compile';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import { logicDepthMax, logicExpressionsMax, logicNodesMax, logicSchema } from './logic-schema.ts';
import type { Logic } from './logic-schema.ts';
import { PlanError } from '../values/plan-error.ts';
import { OverBudgetError, Work } from '../values/work.ts';
import type { OperatorName } from './operator-names.ts';
import { checkLogic, compilePredicate } from './predicate.ts';

const subject = sampleEvent();
const yes: Logic = { condition: { property: 'event.event', operator: 'Is', value: 'Order Completed' } };
const no: Logic = { condition: { property: 'event.event', operator: 'Is', value: 'Other' } };
const missing: Logic = { condition: { property: 'visitor.plan', operator: 'Is', value: 'pro' } };

test.each<[string, Logic, boolean]>([
  ['a condition that holds', yes, true],
  ['a condition that does not', no, false],
  ['AND of both', { AND: [yes, no] }, false],
  ['AND of one', { AND: [yes] }, true],
  ['OR of both', { OR: [no, yes] }, true],
  ['OR of neither', { OR: [no, no] }, false],
  ['NOT', { NOT: no }, true],
  ['nesting', { AND: [yes, { OR: [no, { NOT: { AND: [yes, no] } }] }] }, true],
  ['a condition on what is missing', missing, false],
  ['NOT of a condition on what is missing', { NOT: missing }, true],
  ['a condition without value', { condition: { property: 'visitor.email', operator: 'IsTruthy' } }, true],
  ['a path with a dollar sign', { condition: { ...yes.condition, property: '$event.event' } }, true],
])('predicate: %s', (_, logic, expected) => {
  expect(compilePredicate(logic)(subject)).toBe(expected);
});

test('predicate: members that are null count as absent', () => {
  expect(compilePredicate({ ...yes, AND: null, OR: null, NOT: null })(subject)).toBe(true);
});

test.each<[string, unknown, string]>([
  ['no object', 'yes', 'logic '],
  ['null', null, 'logic '],
  ['nothing in it', {}, 'logic '],
  ['two members', { AND: [yes], OR: [yes] }, 'logic '],
  ['an unknown member', { XOR: [yes] }, 'logic '],
  ['an empty AND', { AND: [] }, 'logic.AND '],
  ['an OR that is no list', { OR: yes }, 'logic.OR '],
  [
    'an unknown operator',
    { NOT: { condition: { property: 'a', operator: 'Like', value: '' } } },
    'logic.NOT.condition.operator ',
  ],
  ['an inherited operator', { condition: { property: 'a', operator: 'toString' } }, 'logic.condition.operator '],
  ['a path that is no text', { condition: { property: 5, operator: 'Is', value: '' } }, 'logic.condition.property '],
  [
    'a value that does not fit',
    { AND: [yes, { condition: { property: 'event.time', operator: 'IsGreaterThan', value: 'x' } }] },
    'logic.AND[1].condition.value ',
  ],
])('predicate: refuses %s, naming the field', (_, logic, start) => {
  expect(() => compilePredicate(logic)).toThrow(PlanError);
  expect(() => compilePredicate(logic)).toThrow(new RegExp(`^${start.replaceAll(/[.[\]]/g, String.raw`\$&`)}`));
  expect(checkLogic(logic)).toHaveLength(1);
});

test('predicate: depth and size are bounded, however deep the logic', () => {
  const nested = (depth: number): unknown => {
    let logic: unknown = yes;
    for (let level = 1; level < depth; level += 1) logic = { NOT: logic };
    return logic;
  };
  expect(checkLogic(nested(logicDepthMax))).toEqual([]);
  expect(checkLogic(nested(logicDepthMax + 1))[0]?.problem).toContain('nested deeper');
  expect(checkLogic(nested(100_000))[0]?.problem).toContain('nested deeper');
  const wide = (conditions: number): unknown => ({ OR: Array.from({ length: conditions }, () => no) });
  expect(checkLogic(wide(logicNodesMax - 1))).toEqual([]);
  expect(checkLogic(wide(logicNodesMax))[0]?.problem).toContain('at most');
});

test('predicate: regular expressions have a limit of their own', () => {
  const expression = { condition: { property: 'event.event', operator: 'MatchesRegex', value: 'a+' } };
  const many = (count: number): unknown => ({ OR: Array.from({ length: count }, () => expression) });
  expect(checkLogic(many(logicExpressionsMax))).toEqual([]);
  expect(checkLogic(many(logicExpressionsMax + 1))[0]).toMatchObject({
    field: `logic.OR[${logicExpressionsMax}].condition.operator`,
  });
});

test.each<[string, OperatorName, unknown, number]>([
  ['an expression: each letter it searches', 'MatchesRegex', 'z', 4_097],
  ['a text to be found: its letters at every place', 'Contains', 'z'.repeat(160), 110_001],
  ['texts to be found in: their letters', 'IsFoundIn', ['z'.repeat(160), 'y'], 2],
  ['a start: next to nothing', 'StartsWith', 'z', 626],
])('predicate: work of %s', (_, operator, value, units) => {
  const long = sampleEvent({ event: 'a'.repeat(10_000) });
  const holds = compilePredicate({ condition: { property: 'event.event', operator, value } });
  const work = new Work(units);
  expect(holds({ ...long, work })).toBe(false);
  expect(work.spent).toBe(units);
  expect(() => holds({ ...long, work })).toThrow(OverBudgetError);
});

test('predicate: any JSON compiles to a predicate or is refused with a problem', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      expect(checkLogic(json).length).toBeLessThanOrEqual(1);
    }),
  );
});

test('predicate: AND, OR and NOT follow Boolean logic', () => {
  const { tree } = fc.letrec<{ tree: readonly [Logic, boolean] }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      fc.boolean().map((holds) => [holds ? yes : no, holds] as const),
      tie('tree').map(([logic, holds]) => [{ NOT: logic }, !holds] as const),
      fc
        .array(tie('tree'), { minLength: 1, maxLength: 3 })
        .map((parts) => [{ AND: parts.map(([logic]) => logic) }, parts.every(([, holds]) => holds)] as const),
      fc
        .array(tie('tree'), { minLength: 1, maxLength: 3 })
        .map((parts) => [{ OR: parts.map(([logic]) => logic) }, parts.some(([, holds]) => holds)] as const),
    ),
  }));
  fc.assert(
    fc.property(tree, ([logic, expected]) => {
      expect(compilePredicate(logic)(subject)).toBe(expected);
    }),
  );
});

describe('logic schema', () => {
  const schema = Compile(logicSchema);

  test.each([yes, { AND: [yes] }, { OR: [no, yes] }, { NOT: yes }, { ...yes, AND: null }])('%j fits', (logic) => {
    expect(schema.Check(logic)).toBe(true);
  });

  test.each([
    'yes',
    { XOR: [yes] },
    { AND: [] },
    { condition: { property: '', operator: 'Is' } },
    { condition: { property: 'a', operator: 'Like' } },
    { condition: { property: 'a', operator: 'Is', value: {} } },
    { condition: { property: 'a', operator: 'Is', value: '', extra: 1 } },
  ])('%j does not fit', (logic) => {
    expect(schema.Check(logic)).toBe(false);
  });

  test('logic schema: the check does not descend into nested logic, so deep logic cannot exhaust the stack', () => {
    let logic: unknown = yes;
    for (let level = 0; level < 100_000; level += 1) logic = { NOT: logic };
    expect(schema.Check(logic)).toBe(true);
    expect(checkLogic(logic)).toHaveLength(1);
  });
});
