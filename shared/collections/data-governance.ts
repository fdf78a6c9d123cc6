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
      `${description} Report counts it. Omit leaves the property out, Redact puts the text REDACTED in its place: in all that is ` +
      'stored, sent and kept of the visitor. Quarantine holds the event until it is released or deleted. Drop accepts the event and stores no part of it.',
  });

const eventBody = Type.Object({
  /** Name of the event. */
  name: Type.String({ minLength: 1, maxLength: 1_000 }),
  description: descriptionField,
  status: Type.Enum(['Proposed', 'Approved', 'Deprecated']),
  /** Its owner. */
  owner: nullable(Type.String({ maxLength: 250 })),
  properties: Type.Array(eventProperty, { maxItems: 500 }),
  action: actionField('The action for an event with a property of another type, or of a value that is not allowed.'),
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
    description: 'Info is counted. A Warning stands on the overview. An Error stands there first and raises an alert.',
  }),
  /** The event that the rule checks; null is every event. */
  eventName: nullable(Type.String({ minLength: 1, maxLength: 1_000 })),
  property: Type.String({
    minLength: 1,
    maxLength: 500,
    description:
      'Path of the property it looks at, as the event itself gives it: event_properties.total, default_properties.current_url, ' +
      'visitor.email. event_properties.products.price is that of each product of a list.',
  }),
  type: Type.Enum(['Required', 'Forbidden', 'Type', 'Pattern', 'OneOf', 'Range']),
  expected: nullable(
    Type.String({
      maxLength: 2_000,
      description:
        'Of Type: string, number, boolean, object or array. Of Pattern: an RE2 expression. Of OneOf: a JSON list of at most 200 texts, numbers ' +
        'and booleans, compared as they are; of a list each member has to be one of them. Of Range: two numbers, both included, of which ' +
        'one may be left out: 0..100, 1.. or ..0. Else null.',
    }),
  ),
  action: actionField('The action for an event that breaks the rule.'),
});

export type DataGovernanceRuleBody = Static<typeof ruleBody>;

/** The expected data of events. */
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
