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
import { planActions, planSeverities } from '../contracts/config/plan-settings.ts';
import { problemsOf } from '../routing/values/plan-error.ts';
import { compilePlanPath } from '../routing/tracking-plan/plan-path.ts';
import { compileRuleType } from '../routing/tracking-plan/rule-types.ts';

const eventProperty = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 250 }),
    type: Type.Enum(['string', 'number', 'boolean', 'object', 'array', 'any']),
    isRequired: Type.Boolean(),
    description: descriptionField,
    allowedValues: Type.Optional(
      nullable(
        Type.Array(Type.Union([Type.String({ maxLength: 250 }), Type.Number(), Type.Boolean()]), {
          minItems: 1,
          maxItems: 200,
          uniqueItems: true,
          description: 'The only values that it may have, compared as they are; of a list, its members. Null: any.',
        }),
      ),
    ),
  },
  { additionalProperties: false },
);

const actionField = (description: string) =>
  Type.Enum([...planActions], {
    description:
      `${description} Report counts it. Omit leaves the property out, Redact puts the text REDACTED in its place: in what is ` +
      'stored, sent and kept of the visitor. Quarantine holds the event until it is released or deleted. Drop takes the event and stores nothing of what it says.',
  });

const eventBody = Type.Object({
  /** Name of the event. */
  name: Type.String({ minLength: 1, maxLength: 1_000 }),
  description: descriptionField,
  status: Type.Enum(['Proposed', 'Approved', 'Deprecated']),
  /** Who answers for it. */
  owner: nullable(Type.String({ maxLength: 250 })),
  properties: Type.Array(eventProperty, { maxItems: 500 }),
  action: actionField(
    'What becomes of an event whose properties are not of the types listed, or not among their allowed values.',
  ),
});

type DataGovernanceEventBody = Static<typeof eventBody>;

/** The tracking plan: the events there should be, and what each carries. */
export const dataGovernanceEvents = defineCollection({
  name: 'dataGovernanceEvents',
  noun: 'data governance event',
  uniqueNames: true,
  body: eventBody,
  defaults: { description: null, status: 'Proposed', owner: null, properties: [], action: 'Report' },
  filters: ['status'],
  check: (event) => checkProperties((event as DataGovernanceEventBody).properties),
  describe: (event) => {
    const { status, properties } = event as DataGovernanceEventBody;
    return { type: status, summary: `${properties.length} properties` };
  },
});

function checkProperties(properties: DataGovernanceEventBody['properties']): readonly FieldProblem[] {
  return properties.flatMap(({ type, allowedValues }, index): readonly FieldProblem[] => {
    if (allowedValues === null || allowedValues === undefined) return [];
    const isOther = (value: unknown): boolean => type !== 'any' && type !== 'array' && typeof value !== type;
    if (type !== 'object' && !allowedValues.some(isOther)) return [];
    const field = `properties[${index}].allowedValues`;
    return [
      { field, problem: type === 'object' ? 'must be left out for an object' : `must be values of the type ${type}` },
    ];
  });
}

const ruleBody = Type.Object({
  name: nameField,
  description: descriptionField,
  isEnabled: Type.Boolean(),
  severity: Type.Enum([...planSeverities], {
    description: 'Info is counted. A Warning stands on the overview. An Error stands there first and raises an alert.',
  }),
  /** The event it looks at; null is every event. */
  eventName: nullable(Type.String({ minLength: 1, maxLength: 1_000 })),
  property: Type.String({
    minLength: 1,
    maxLength: 500,
    description:
      'Path of the property it looks at, as the event itself gives it: event_properties.total, default_properties.current_url, ' +
      'visitor.email. event_properties.products.price is that of each product of a list.',
  }),
  type: Type.Enum(['Required', 'Forbidden', 'Type', 'Pattern']),
  /** The type's name for Type, an RE2 expression for Pattern. */
  expected: nullable(Type.String({ maxLength: 2_000 })),
  action: actionField('What becomes of an event that breaks the rule.'),
});

type DataGovernanceRuleBody = Static<typeof ruleBody>;

/** What the data of events should look like. */
export const dataGovernanceRules = defineCollection({
  name: 'dataGovernanceRules',
  noun: 'data governance rule',
  uniqueNames: true,
  body: ruleBody,
  defaults: {
    description: null,
    isEnabled: true,
    severity: 'Warning',
    eventName: null,
    expected: null,
    action: 'Report',
  },
  filters: ['type', 'severity'],
  check: (rule) => {
    const { property, type, expected, action } = rule as DataGovernanceRuleBody;
    return [
      ...problemsOf(() => compilePlanPath(property, 'property')),
      ...problemsOf(() => compileRuleType({ type, expected })),
      ...checkAction(type, property, action),
    ];
  },
  describe: ({ type, property }) => ({ type: textOf(type), summary: textOf(property) }),
});

function checkAction(type: string, property: string, action: string): readonly FieldProblem[] {
  if (action !== 'Omit' && action !== 'Redact') return [];
  if (type === 'Required') {
    return [
      { field: 'action', problem: `must not be ${action} for Required: a property that is missing cannot be changed` },
    ];
  }
  const path = property.trim().replace(/^\$?(event\.)?/, '');
  if (/^visitor\.consent(\.|$)/.test(path)) {
    return [{ field: 'action', problem: `must not be ${action} for consent: a refusal would be lost` }];
  }
  if (action === 'Redact' && /^visitor\.(email|external_id)$/.test(path)) {
    return [
      { field: 'action', problem: 'must be Omit for an identifier: one text for all would make one visitor of them' },
    ];
  }
  return [];
}
