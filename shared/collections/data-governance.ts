import type { Static } from 'typebox';
import { Type } from 'typebox';
import type { FieldProblem } from '../contracts/config/define-collection.ts';
import {
  defineCollection,
  descriptionField,
  nameField,
  nullable,
  textOf,
} from '../contracts/config/define-collection.ts';
import { problemsOf } from '../routing/values/plan-error.ts';
import { compilePropertyPath } from '../routing/values/property-path.ts';
import { compileRegex } from '../routing/values/regex.ts';

const eventProperty = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 250 }),
    type: Type.Enum(['string', 'number', 'boolean', 'object', 'array', 'any']),
    isRequired: Type.Boolean(),
    description: descriptionField,
  },
  { additionalProperties: false },
);

const eventBody = Type.Object({
  /** Name of the event. */
  name: Type.String({ minLength: 1, maxLength: 1_000 }),
  description: descriptionField,
  status: Type.Enum(['Proposed', 'Approved', 'Deprecated']),
  /** Who answers for it. */
  owner: nullable(Type.String({ maxLength: 250 })),
  properties: Type.Array(eventProperty, { maxItems: 500 }),
});

type DataGovernanceEventBody = Static<typeof eventBody>;

/** The tracking plan: the events there should be, and what each carries. */
export const dataGovernanceEvents = defineCollection({
  name: 'dataGovernanceEvents',
  noun: 'data governance event',
  uniqueNames: true,
  body: eventBody,
  defaults: { description: null, status: 'Proposed', owner: null, properties: [] },
  filters: ['status'],
  describe: (event) => {
    const { status, properties } = event as DataGovernanceEventBody;
    return { type: status, summary: `${properties.length} properties` };
  },
});

const ruleBody = Type.Object({
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

type DataGovernanceRuleBody = Static<typeof ruleBody>;

const valueTypes = ['string', 'number', 'boolean', 'object', 'array'];

/** What the data of events should look like. */
export const dataGovernanceRules = defineCollection({
  name: 'dataGovernanceRules',
  noun: 'data governance rule',
  uniqueNames: true,
  body: ruleBody,
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
