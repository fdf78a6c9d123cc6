import { Type } from 'typebox';
import type { Static } from 'typebox';
import { defineCollection, descriptionField, idList, references } from '../contracts/config/define-collection.ts';

export const allowedEventNameCharsMax = 1_000;

const body = Type.Object({
  /** Name of an event, compared without case. */
  name: Type.String({ minLength: 1, maxLength: allowedEventNameCharsMax }),
  description: descriptionField,
  /** The only destinations that receive the event. */
  destinationIds: idList(),
});

export type AllowedEventBody = Static<typeof body>;

export const allowedEvents = defineCollection({
  name: 'allowedEvents',
  noun: 'allowed event',
  ids: 'slug',
  uniqueNames: true,
  body,
  defaults: { description: null, destinationIds: [] },
  references: [references('destinationIds', 'destinations')],
  describe: (event) => {
    const { destinationIds } = event as AllowedEventBody;
    return { type: '', summary: `to ${destinationIds.length} destinations` };
  },
});
