import { Type } from 'typebox';
import type { Static } from 'typebox';
import { mappedPropertiesMax } from '../routing/mapping/apply-mapping.ts';
import { logicSchema } from '../routing/predicate/logic-schema.ts';
import { modificationNames } from '../routing/modifications/modifications.ts';
import { defineCollection, nullable, references } from '../contracts/config/define-collection.ts';

const propertyMapping = Type.Object(
  {
    /** Name of the property at the destination. */
    property: Type.String({ minLength: 1, maxLength: 250 }),
    /** A template, such as `{{event.event_properties.total}}`; text outside of braces is literal. */
    map: Type.String({ maxLength: 4_000 }),
    modification: Type.Enum([...modificationNames]),
  },
  { additionalProperties: false },
);

/** The largest priority number. A destination's default mapping has it, since it is tried last. */
export const mappingPriorityMax = 1_000_000;

const body = Type.Object({
  name: nullable(Type.String({ minLength: 1, maxLength: 250 })),
  destinationId: Type.String({ minLength: 1, maxLength: 64 }),
  /** A destination's rules are tried in this order, lowest first; the first match applies. */
  priority: Type.Integer({ minimum: -mappingPriorityMax, maximum: mappingPriorityMax }),
  isEnabled: Type.Boolean(),
  logic: nullable(logicSchema),
  action: Type.Enum(['send', 'stop']),
  eventName: nullable(Type.String({ minLength: 1, maxLength: 1_000 })),
  mappings: Type.Array(propertyMapping, { maxItems: mappedPropertiesMax }),
  others: Type.Enum(['omit', 'keep'], {
    description:
      'The handling of properties that no row names. omit: they are left out. keep: they are sent unchanged.',
  }),
});

type MappingBody = Static<typeof body>;

export const mappings = defineCollection({
  name: 'mappings',
  noun: 'mapping',
  ids: 'slug',
  body,
  defaults: {
    name: null,
    priority: 0,
    isEnabled: true,
    logic: null,
    action: 'send',
    eventName: null,
    mappings: [],
    others: 'omit',
  },
  filters: ['destinationId', 'action'],
  references: [references('destinationId', 'destinations')],
  describe: (mapping) => {
    const { action, eventName, isEnabled } = mapping as MappingBody;
    return { type: action, summary: `${isEnabled ? '' : 'disabled, '}${eventName ?? 'any event'}` };
  },
});
