import { Type } from 'typebox';
import type { Static } from 'typebox';
import { defineCollection, descriptionField } from '../contracts/config/define-collection.ts';

const body = Type.Object({
  /** Name of the event; `*` means every event. */
  name: Type.String({ minLength: 1, maxLength: 1_000 }),
  description: descriptionField,
  /** Properties of the event that destinations may receive. */
  properties: Type.Array(Type.String({ minLength: 1, maxLength: 250 }), {
    maxItems: 1_000,
    uniqueItems: true,
    description: 'Names of properties. `products.price` is a property within an object or the objects of a list.',
  }),
});

type ExternalAllowedEventDataBody = Static<typeof body>;

/**
 * Event properties that destinations may receive. If there are no entries, all properties are allowed; otherwise only
 * those listed for the event or for `*`.
 */
export const externalAllowedEventData = defineCollection({
  name: 'externalAllowedEventData',
  noun: 'external allowed event data',
  ids: 'slug',
  uniqueNames: true,
  body,
  defaults: { description: null, properties: [] },
  describe: (data) => {
    const { properties } = data as ExternalAllowedEventDataBody;
    return { type: '', summary: `${properties.length} properties` };
  },
});
