import { Type } from 'typebox';
import type { Static } from 'typebox';
import { defineCollection, descriptionField, nullable } from '../contracts/config/define-collection.ts';

const property = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 250 }),
    type: Type.Enum(['string', 'number', 'boolean', 'object', 'array', 'any']),
    isRequired: Type.Boolean(),
    description: descriptionField,
  },
  { additionalProperties: false },
);

const body = Type.Object({
  /** Name of the event. */
  name: Type.String({ minLength: 1, maxLength: 1_000 }),
  description: descriptionField,
  status: Type.Enum(['Proposed', 'Approved', 'Deprecated']),
  /** Who answers for it. */
  owner: nullable(Type.String({ maxLength: 250 })),
  properties: Type.Array(property, { maxItems: 500 }),
});

type DataGovernanceEventBody = Static<typeof body>;

/** The tracking plan: the events there should be, and what each carries. */
export const dataGovernanceEvents = defineCollection({
  name: 'dataGovernanceEvents',
  noun: 'data governance event',
  uniqueNames: true,
  body,
  defaults: { description: null, status: 'Proposed', owner: null, properties: [] },
  filters: ['status'],
  describe: (event) => {
    const { status, properties } = event as DataGovernanceEventBody;
    return { type: status, summary: `${properties.length} properties` };
  },
});
