import { Type } from 'typebox';
import type { Scalar } from './operands.ts';
import { operatorNames } from './operator-names.ts';
import type { OperatorName } from './operator-names.ts';
import { operandItemsMax, operandTextMax, pathCharactersMax } from '../values/rule-limits.ts';

/** One comparison: the path of a property, an operator, and the value that it compares with. */
export type Condition = {
  readonly property: string;
  readonly operator: OperatorName;
  /** Text, a number, true, false, null or a list, depending on the operator; absent if it takes none. */
  readonly value?: Scalar | readonly Scalar[];
};

/** When a rule applies: one condition, or several joined. */
export type Logic =
  | { readonly condition: Condition }
  | { readonly AND: readonly Logic[] }
  | { readonly OR: readonly Logic[] }
  | { readonly NOT: Logic };

/** How deep AND, OR and NOT may be nested, including the conditions at the bottom. */
export const logicDepthMax = 16;
/** Maximum number of conditions and joins in one logic. */
export const logicNodesMax = 1_000;
/**
 * Maximum number of conditions with a regular expression: each expression is compiled to a table when the rules are
 * read.
 */
export const logicExpressionsMax = 100;

const scalar = Type.Union([Type.String({ maxLength: operandTextMax }), Type.Number(), Type.Boolean(), Type.Null()]);

const condition = Type.Object(
  {
    property: Type.String({
      minLength: 1,
      maxLength: pathCharactersMax,
      description: 'A bare path: event.event, event.event_properties.plan, visitor.email. A $ before it is allowed.',
    }),
    operator: Type.Enum([...operatorNames]),
    value: Type.Optional(Type.Union([scalar, Type.Array(scalar, { maxItems: operandItemsMax })])),
  },
  { additionalProperties: false },
);

const joined = { minItems: 1, maxItems: logicNodesMax };

/**
 * The schema of a logic for API documents. It checks the outermost level only: `checkLogic` checks nested levels within
 * its depth limit and names the wrong field. A collection with a logic uses both.
 */
export const logicSchema = Type.Object(
  {
    condition: Type.Optional(Type.Union([condition, Type.Null()])),
    AND: Type.Optional(
      Type.Union([Type.Array(Type.Unknown(), { ...joined, description: 'Logic that must all hold.' }), Type.Null()]),
    ),
    OR: Type.Optional(
      Type.Union([
        Type.Array(Type.Unknown(), { ...joined, description: 'Logic of which one must hold.' }),
        Type.Null(),
      ]),
    ),
    NOT: Type.Optional(Type.Unknown({ description: 'Logic that must not hold.' })),
  },
  { additionalProperties: false, description: 'Exactly one of condition, AND, OR and NOT.' },
);
