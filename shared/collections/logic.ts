import { RE2JS } from 're2js';
import { Type } from 'typebox';
import type { Static } from 'typebox';

/** What a condition can ask of a property. */
export const logicOperators = [
  'Is',
  'IsNot',
  'Contains',
  'DoesNotContain',
  'StartsWith',
  'EndsWith',
  'IsFalsy',
  'IsTruthy',
  'IsNull',
  'IsNotNull',
  'IsUndefined',
  'IsNotUndefined',
  'IsGreaterThan',
  'IsGreaterThanOrEqual',
  'IsLessThan',
  'IsLessThanOrEqual',
  'IsIn',
  'IsNotIn',
  'IsFoundIn',
  'IsNotFoundIn',
  'IsTrue',
  'IsFalse',
  'IsBefore',
  'IsAfter',
  'IsBetween',
  'IsOnOrBefore',
  'IsOnOrAfter',
  'MatchesRegex',
  'MatchesRegexIgnoreCase',
  'DoesNotMatchRegex',
  'DoesNotMatchRegexIgnoreCase',
] as const;

export type LogicOperator = (typeof logicOperators)[number];

const branch = Type.Array(Type.Ref('Logic'), { maxItems: 100 });
const strict = { additionalProperties: false } as const;

/** A rule over an event and its visitor: a condition, or rules joined by AND, OR and NOT. */
export const logic = Type.Cyclic(
  {
    Logic: Type.Union(
      [
        Type.Object(
          {
            condition: Type.Object(
              {
                property: Type.String({ minLength: 1, maxLength: 500 }),
                operator: Type.Enum([...logicOperators]),
                value: Type.Optional(Type.Unknown()),
              },
              strict,
            ),
          },
          strict,
        ),
        Type.Object({ AND: branch }, strict),
        Type.Object({ OR: branch }, strict),
        Type.Object({ NOT: Type.Ref('Logic') }, strict),
      ],
      { title: 'a rule: {condition: {property, operator, value}}, {AND: [rules]}, {OR: [rules]} or {NOT: rule}' },
    ),
  },
  'Logic',
);

export type Logic = Static<typeof logic>;

const conditionsMax = 500;

/** What the schema cannot say of a rule; undefined when it can be compiled. */
export function logicProblem(rule: Logic | null | undefined): string | undefined {
  if (rule === null || rule === undefined) return undefined;
  const open: Logic[] = [rule];
  let conditions = 0;
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if ('AND' in one) open.push(...one.AND);
    else if ('OR' in one) open.push(...one.OR);
    else if ('NOT' in one) open.push(one.NOT);
    else {
      conditions += 1;
      const problem = conditionProblem(one.condition.operator, one.condition.value);
      if (problem !== undefined) return problem;
    }
  }
  return conditions > conditionsMax ? `must have at most ${conditionsMax} conditions` : undefined;
}

function conditionProblem(operator: LogicOperator, value: unknown): string | undefined {
  if (operator.includes('Regex')) {
    if (typeof value !== 'string') return `must give ${operator} an expression as its value`;
    try {
      RE2JS.compile(value);
    } catch {
      return `must give ${operator} an RE2 expression: no look-around and no back-references`;
    }
  }
  if (operator === 'IsBetween' && !(Array.isArray(value) && value.length === 2)) {
    return 'must give IsBetween two values: [from, to]';
  }
  return undefined;
}
