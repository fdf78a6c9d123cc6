import { Type } from 'typebox';
import type { Static } from 'typebox';
import { PlanError } from '../routing/values/plan-error.ts';
import { compileRegex } from '../routing/values/regex.ts';

/** A condition on one query parameter of a page; names and values are case-sensitive. */
export const queryRule = Type.Object(
  {
    parameter: Type.String({ minLength: 1, maxLength: 250 }),
    operator: Type.Enum(['equals', 'contains', 'exists', 'not_exists', 'not_equals', 'regex']),
    /** Required, except for `exists` and `not_exists`, which take no value. */
    value: Type.Optional(Type.Union([Type.String({ maxLength: 1_000 }), Type.Null()])),
  },
  { additionalProperties: false },
);

export type QueryRule = Static<typeof queryRule>;

/** Returns whether the rule holds for the parameter's values on a page. Without the parameter, `values` is empty. */
export type QueryCheck = (values: readonly string[]) => boolean;

/** Number of characters of a value that a regular expression reads, because any client may send a long value. */
export const regexInputCharsMax = 1_000;

/**
 * Compiles a rule. A parameter may occur several times: equals, contains and regex hold if one of its values matches;
 * not_equals holds if no value is equal, including if there are no values. Throws PlanError naming the field for a
 * rule's value that is missing, unused, or not an RE2 expression.
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
