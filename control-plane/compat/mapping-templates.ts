import { Type } from 'typebox';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { personalProperties } from '../../shared/destinations/sdk/person.ts';
import type { PlatformVocabulary, StandardParameter } from '../../shared/destinations/sdk/standard-events.ts';
import { platformEvents } from '../../shared/destinations/sdk/platform-events.ts';
import { findDestinationKind } from '../../shared/destinations/registry.ts';
import { modificationNames } from '../../shared/routing/modifications/modifications.ts';
import { inWords } from './in-words.ts';

/** A template for a mapping: an event of the platform, or any event under its own name. */
export type MappingTemplate = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** The template handles the events that no other mapping of the destination matches. */
  readonly isDefault: boolean;
  /** The platform's name for the event; null if the event keeps its own name. */
  readonly eventName: string | null;
};

export const defaultTemplateId = 'default';

const ofAnyKind: readonly MappingTemplate[] = [
  {
    id: defaultTemplateId,
    name: 'Every other event',
    description: 'The payload of events that no mapping of the destination matches.',
    isDefault: true,
    eventName: null,
  },
  {
    id: 'event',
    name: 'Event under its own name',
    description: 'The event keeps its name.',
    isDefault: false,
    eventName: null,
  },
];

/** The templates of a destination of this kind, the default one first. */
export function templatesOf(type: string): readonly MappingTemplate[] {
  const label = findDestinationKind(type)?.descriptor.label ?? type;
  const { names, others = [] } = vocabularyOf(type) ?? { names: {} };
  const named = [...new Set([...Object.values(names), ...others])].map((eventName) => ({
    id: `event:${eventName}`,
    name: eventName,
    description: `${label} receives it as ${eventName}.`,
    isDefault: false,
    eventName,
  }));
  return [...ofAnyKind, ...named];
}

/** The template of a mapping; undefined if no template has the mapping's event name. */
export function templateOf(
  type: string,
  rule: { readonly isDefault: boolean; readonly eventName: string | null },
): MappingTemplate | undefined {
  return templatesOf(type).find(
    ({ isDefault, eventName }) => isDefault === rule.isDefault && eventName === rule.eventName,
  );
}

const option = Type.Object({ label: Type.String(), value: Type.String() });

/** A template in a reply, with the properties that the destination is known to use. */
export const templateReply = Type.Object({
  id: Type.String(),
  name: Type.String(),
  description: nullable(Type.String()),
  isDefault: Type.Boolean(),
  mappings: Type.Array(
    Type.Object({
      property: Type.String(),
      label: Type.String(),
      description: nullable(Type.String()),
      kind: Type.Enum(['Array', 'Integer', 'Text']),
      isPII: Type.Boolean(),
      required: Type.Boolean(),
      map: Type.String({ description: 'The source of the value.' }),
      modification: nullable(Type.Enum([...modificationNames])),
      modificationOptions: nullable(Type.Array(Type.Enum([...modificationNames]))),
      options: nullable(Type.Array(option)),
      suggestedOptions: nullable(Type.Array(option)),
    }),
    {
      description:
        'Other properties may be mapped as well. A mapping without mapped properties sends the properties of the event.',
    },
  ),
});

export function viewTemplate(type: string, { id, name, description, isDefault }: MappingTemplate) {
  return { id, name, description, isDefault, mappings: propertiesOf(type).map(describeProperty) };
}

type Property = {
  readonly property: string;
  readonly label: string;
  readonly kind: 'Array' | 'Integer' | 'Text';
  /** Path of the value; by default, the event property named `property`. */
  readonly path?: string;
};

const value = { property: 'value', label: 'Value', kind: 'Text' } as const;
const currency = { property: 'currency', label: 'Currency', kind: 'Text' } as const;
const orderId = { property: 'order_id', label: 'Order id', kind: 'Text' } as const;
const itemCount = { property: 'num_items', label: 'Number of items', kind: 'Integer' } as const;
const products = { property: 'products', label: 'Products', kind: 'Array' } as const;
const searchText = { property: 'search_string', label: 'Search text', kind: 'Text' } as const;

/** The event property that destinations read for a platform's parameter. */
const propertyOf: Readonly<Record<StandardParameter, Property>> = {
  value,
  currency,
  orderId,
  itemCount,
  itemIds: products,
  itemId: products,
  itemName: products,
  itemCategory: products,
  itemBrand: products,
  itemPrice: products,
  itemQuantity: products,
  searchText,
};

const ofPerson: readonly Property[] = personalProperties.map((name) => ({
  property: `visitor.${name}`,
  label: inWords(name),
  kind: 'Text',
  path: `visitor.${name}`,
}));

/** Properties for platforms with named events: money, products and the visitor. */
function propertiesOf(type: string): readonly Property[] {
  const vocabulary = vocabularyOf(type);
  if (vocabulary === undefined) return [];
  const parameters = Object.keys(vocabulary.parameters) as StandardParameter[];
  return [...new Set(parameters.map((parameter) => propertyOf[parameter])), ...ofPerson];
}

function describeProperty({ property, label, kind, path }: Property) {
  return {
    property,
    label,
    description: null,
    kind,
    isPII: path !== undefined,
    required: false,
    map: `{{${path ?? `event.event_properties.${property}`}}}`,
    modification: null,
    modificationOptions: null,
    options: null,
    suggestedOptions: null,
  };
}

function vocabularyOf(type: string): PlatformVocabulary | undefined {
  const known: Readonly<Record<string, PlatformVocabulary>> = platformEvents;
  return Object.hasOwn(known, type) ? known[type] : undefined;
}
