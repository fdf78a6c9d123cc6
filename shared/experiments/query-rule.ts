import { Type } from 'typebox';
import type { Static } from 'typebox';
import { PlanError } from '../routing/values/plan-error.ts';
import { compileRegex } from '../routing/values/regex.ts';

/** A condition on one query parameter of a page; names and values are case-sensitive. */
export const queryRule = Type.Object(
  {
    parameter: Type.String({ minLength: 1, maxLength: 250 }),
    operator: Type.Enum(['equals', 'contains', 'exists', 'not_exists', 'not_equals', 'regex']),
    /** Not for `exists` and `not_exists`. */
    value: Type.Optional(Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()])),
  },
  { additionalProperties: false },
);

export type QueryRule = Static<typeof queryRule>;

/** Returns whether the rule holds for the parameter's values on a page; empty when it is absent. */
export type QueryCheck = (values: readonly string[]) => boolean;

/** Maximum length of a parameter's value for a regular expression, because anyone may send a long one. */
export const regexInputCharsMax = 1_000;

/**
 * Compiles a rule. A parameter may occur several times: equals, contains and regex hold if one of its values matches;
 * not_equals holds if none is equal, including when there are none. Throws PlanError naming the field for a value
 * that is missing, unused, or not an RE2 expression.
 */
export function compileQueryRule(rule: QueryRule, field: string): QueryCheck {
  switch (rule.operator) {
    case 'exists':
      refuseValue(rule, field);
      return (values) => values.length > 0;
    case 'not_exists':
      refuseValue(rule, field);
      return (values) => values.length === 0;
    case 'equals': {
      const wanted = valueOf(rule, field);
      return (values) => values.includes(wanted);
    }
    case 'not_equals': {
      const unwanted = valueOf(rule, field);
      return (values) => !values.includes(unwanted);
    }
    case 'contains': {
      const part = valueOf(rule, field);
      return (values) => values.some((value) => value.includes(part));
    }
    case 'regex': {
      const matches = compileRegex(valueOf(rule, field), false, `${field}.value`);
      return (values) => values.some((value) => matches(value.slice(0, regexInputCharsMax)));
    }
  }
}

function valueOf({ operator, value }: QueryRule, field: string): string {
  if (value === undefined || value === null) throw new PlanError(`${field}.value`, `is required for ${operator}`);
  return value;
}

function refuseValue({ operator, value }: QueryRule, field: string): void {
  if (value !== undefined && value !== null) throw new PlanError(`${field}.value`, `is not for ${operator}`);
}
