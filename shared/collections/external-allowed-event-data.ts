import { Type } from 'typebox';
import type { Static } from 'typebox';
import { defineCollection, descriptionField } from '../contracts/config/define-collection.ts';

const body = Type.Object({
  /** Name of the event that an external party sends. */
  name: Type.String({ minLength: 1, maxLength: 1_000 }),
  description: descriptionField,
  /** Properties of it that may be kept. */
  properties: Type.Array(Type.String({ minLength: 1, maxLength: 250 }), { maxItems: 1_000, uniqueItems: true }),
});

type ExternalAllowedEventDataBody = Static<typeof body>;

/** Which data of events from outside (embedded widgets, partners' tags) may be taken over. */
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
