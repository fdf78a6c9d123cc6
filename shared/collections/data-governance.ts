import type { Static } from 'typebox';
import { Type } from 'typebox';
import {
  defineCollection,
  descriptionField,
  nameField,
  nullable,
  textOf,
} from '../contracts/config/define-collection.ts';
import { planActions, planSeverities } from '../contracts/config/plan-settings.ts';

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
          description: 'The only allowed values, compared exactly; for a list, of its members. Null allows all.',
        }),
      ),
    ),
  },
  { additionalProperties: false },
);

const actionField = (description: string) =>
  Type.Enum([...planActions], {
    description:
      `${description} Report counts the event. Omit removes the property and Redact replaces it with the text REDACTED, in everything that is ` +
      'stored, sent and kept with the visitor. Quarantine holds the event until it is released or deleted. Drop accepts the event and stores no part of it.',
  });

const eventBody = Type.Object({
  /** Name of the event, compared without case. */
  name: Type.String({ minLength: 1, maxLength: 1_000 }),
  description: descriptionField,
  status: Type.Enum(['Proposed', 'Approved', 'Deprecated']),
  /** The person or team that owns the event. */
  owner: nullable(Type.String({ maxLength: 250 })),
  properties: Type.Array(eventProperty, { maxItems: 500 }),
  action: actionField('The action for an event with a property of the wrong type or with a value that is not allowed.'),
});

export type DataGovernanceEventBody = Static<typeof eventBody>;

/** The tracking plan: the expected events, and the properties of each. */
export const dataGovernanceEvents = defineCollection({
  name: 'dataGovernanceEvents',
  noun: 'data governance event',
  uniqueNames: true,
  body: eventBody,
  defaults: { description: null, status: 'Proposed', owner: null, properties: [], action: 'Report' },
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
  severity: Type.Enum([...planSeverities], {
    description: 'Info is counted. Warning is shown on the overview. Error is shown there first and raises an alert.',
  }),
  /** The event that the rule checks; null means every event. */
  eventName: nullable(Type.String({ minLength: 1, maxLength: 1_000 })),
  property: Type.String({
    minLength: 1,
    maxLength: 500,
    description:
      'Path of the property that the rule checks, in the event as it was sent: event_properties.total, default_properties.current_url, ' +
      'visitor.email. event_properties.products.price is the price of each product in a list.',
  }),
  type: Type.Enum(['Required', 'Forbidden', 'Type', 'Pattern', 'OneOf', 'Range']),
  expected: nullable(
    Type.String({
      maxLength: 2_000,
      description:
        'For Type: string, number, boolean, object or array. For Pattern: an RE2 expression. For OneOf: a JSON list of at most 200 texts, numbers ' +
        'and booleans, compared exactly; if the property is a list, each member must be one of them. For Range: two inclusive bounds, of which ' +
        'one may be left out: 0..100, 1.. or ..0. For other types: null.',
    }),
  ),
  action: actionField('The action for an event that breaks the rule.'),
});

export type DataGovernanceRuleBody = Static<typeof ruleBody>;

/** Rules of the tracking plan; each is about a single property. */
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
  describe: ({ type, property }) => ({ type: textOf(type), summary: textOf(property) }),
});
