import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  defineCollection,
  enabledStatus,
  idList,
  nullable,
  references,
  textOf,
} from '../contracts/config/define-collection.ts';
import { destinationTypes } from './destination-types.ts';

/** A destination's settings: keys and values as described by its kind. */
export const destinationSettings = Type.Record(Type.String(), Type.Unknown());

const body = Type.Object({
  name: nullable(Type.String({ maxLength: 250 })),
  type: Type.Enum([...destinationTypes]),
  status: enabledStatus,
  settings: nullable(destinationSettings),
  // An empty list excludes nothing, because a cleared form sends one. To send nothing, disable the destination.
  limitedToSourceIds: Type.Union([idList(), Type.Null()], {
    description:
      'The only sources whose events go to the destination. Null or an empty list: every source. To stop all, set status to Disabled.',
  }),
  hashingSalt: nullable(Type.String({ maxLength: 1_000 })),
});

export type DestinationBody = Static<typeof body>;

export const destinations = defineCollection({
  name: 'destinations',
  noun: 'destination',
  body,
  defaults: { name: null, status: 'Enabled', settings: null, limitedToSourceIds: null, hashingSalt: null },
  harmless: ['name'],
  fixed: ['type'],
  references: [references('limitedToSourceIds', 'sources')],
  describe: ({ type, status }) => ({ type: textOf(type), summary: textOf(status) }),
});
