import { RE2JS } from 're2js';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { defineCollection, descriptionField, nameField, nullable, textOf } from './define.ts';

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
    const problem = expectedProblem(rule as DataGovernanceRuleBody);
    return problem === undefined ? [] : [{ field: 'expected', problem }];
  },
  describe: ({ type, property }) => ({ type: textOf(type), summary: textOf(property) }),
});

function expectedProblem({ type, expected }: DataGovernanceRuleBody): string | undefined {
  if (type === 'Type' && !valueTypes.includes(expected ?? '')) return `must be one of ${valueTypes.join(', ')}`;
  if (type !== 'Pattern') return undefined;
  try {
    if (expected !== null) RE2JS.compile(expected);
    return expected === null ? 'is required for a Pattern' : undefined;
  } catch {
    return 'must be an RE2 expression: no look-around and no back-references';
  }
}
