import { Type } from 'typebox';
import type { Static } from 'typebox';
import { defineCollection, nullable, references } from './define.ts';
import { logic, logicProblem } from './logic.ts';
import { words } from './words.ts';

/** What a mapping may do to a value before it leaves. */
export const modifications: readonly string[] = words(`
  None Null Redacted Hash HashMD5 HashedNormalized HashedNormalizedNoSpecialChars HashedPhone HashedCountry HashedState
  HashedZip HashedGender HashedDateOfBirth FullUrl DomainOnly DomainPathOnly DomainPathUTMs DomainUTMs FakeDomain
  FakeDomainRealPath FakeIP RegionalIP DmaIP CamelCase KebabCase SnakeCase StartCase LowerCase UpperCase
`);

const propertyMapping = Type.Object(
  {
    /** Name of the property at the destination. */
    property: Type.String({ minLength: 1, maxLength: 250 }),
    /** A template, such as `{{event.event_properties.total}}`; bare text is literal. */
    map: Type.String({ maxLength: 4_000 }),
    modification: Type.Enum([...modifications]),
  },
  { additionalProperties: false },
);

const body = Type.Object({
  name: nullable(Type.String({ minLength: 1, maxLength: 250 })),
  destinationId: Type.String({ minLength: 1, maxLength: 64 }),
  /** Rules of a destination are tried in this order, lowest first; the first that matches decides. */
  priority: Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 }),
  isEnabled: Type.Boolean(),
  logic: nullable(logic),
  action: Type.Enum(['send', 'stop']),
  eventName: nullable(Type.String({ minLength: 1, maxLength: 1_000 })),
  mappings: Type.Array(propertyMapping, { maxItems: 500 }),
});

export type MappingBody = Static<typeof body>;

export const mappings = defineCollection({
  name: 'mappings',
  noun: 'mapping',
  ids: 'slug',
  body,
  defaults: { name: null, priority: 0, isEnabled: true, logic: null, action: 'send', eventName: null, mappings: [] },
  filters: ['destinationId', 'action'],
  references: [references('destinationId', 'destinations')],
  check: (mapping) => {
    const problem = logicProblem((mapping as MappingBody).logic);
    return problem === undefined ? [] : [{ field: 'logic', problem }];
  },
  describe: (mapping) => {
    const { action, eventName, isEnabled } = mapping as MappingBody;
    return { type: action, summary: `${isEnabled ? '' : 'disabled, '}${eventName ?? 'any event'}` };
  },
});
