import { Type } from 'typebox';
import type { Static } from 'typebox';
import { problemsOf } from '../routing/values/plan-error.ts';
import { compilePropertyPath } from '../routing/values/property-path.ts';
import { compileRegex } from '../routing/values/regex.ts';
import {
  defineCollection,
  descriptionField,
  nameField,
  nullable,
  textOf,
} from '../contracts/config/define-collection.ts';
import type { FieldProblem } from '../contracts/config/define-collection.ts';

const body = Type.Object({
  name: nameField,
  description: descriptionField,
  isEnabled: Type.Boolean(),
  severity: Type.Enum(['Info', 'Warning', 'Error']),
  /** The event it looks at; null is every event. */
  eventName: nullable(Type.String({ minLength: 1, maxLength: 1_000 })),
  /** Path of the property it looks at, such as `event.event_properties.total`. */
  property: Type.String({ minLength: 1, maxLength: 500 }),
  type: Type.Enum(['Required', 'Forbidden', 'Type', 'Pattern']),
  /** The type's name for Type, an RE2 expression for Pattern. */
  expected: nullable(Type.String({ maxLength: 2_000 })),
});

type DataGovernanceRuleBody = Static<typeof body>;

const valueTypes = ['string', 'number', 'boolean', 'object', 'array'];

/** What the data of events should look like. */
export const dataGovernanceRules = defineCollection({
  name: 'dataGovernanceRules',
  noun: 'data governance rule',
  uniqueNames: true,
  body,
  defaults: { description: null, isEnabled: true, severity: 'Warning', eventName: null, expected: null },
  filters: ['type', 'severity'],
  check: (rule) => {
    const { property, ...expectation } = rule as DataGovernanceRuleBody;
    return [...problemsOf(() => compilePropertyPath(property, 'property')), ...checkExpected(expectation)];
  },
  describe: ({ type, property }) => ({ type: textOf(type), summary: textOf(property) }),
});

function checkExpected({ type, expected }: Pick<DataGovernanceRuleBody, 'type' | 'expected'>): readonly FieldProblem[] {
  if (type === 'Type' && !valueTypes.includes(expected ?? '')) {
    return [{ field: 'expected', problem: `must be one of ${valueTypes.join(', ')}` }];
  }
  if (type !== 'Pattern') return [];
  if (expected === null) return [{ field: 'expected', problem: 'is required for a Pattern' }];
  return problemsOf(() => compileRegex(expected, false, 'expected'));
}
