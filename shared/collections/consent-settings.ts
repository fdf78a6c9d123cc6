import { Type } from 'typebox';
import type { Static } from 'typebox';
import {
  defineCollection,
  descriptionField,
  idList,
  nameField,
  nullable,
  references,
} from '../contracts/config/define-collection.ts';

const body = Type.Object({
  /** Name of the purpose: analytics, advertising. */
  name: nameField,
  description: descriptionField,
  isEnabled: Type.Boolean(),
  /** What holds for a visitor who has not decided. */
  defaultState: Type.Enum(['Granted', 'Denied']),
  /** Regions it applies in, as ISO 3166 codes (`DE`, `US-CA`); null is everywhere. */
  regions: nullable(Type.Array(Type.String({ pattern: '^[A-Z]{2}(-[A-Z0-9]{1,3})?$' }), { maxItems: 500 })),
  /** Destinations that serve this purpose. */
  destinationIds: idList(),
});

type ConsentSettingBody = Static<typeof body>;

export const consentSettings = defineCollection({
  name: 'consentSettings',
  noun: 'consent setting',
  ids: 'slug',
  uniqueNames: true,
  body,
  defaults: { description: null, isEnabled: true, defaultState: 'Denied', regions: null, destinationIds: [] },
  references: [references('destinationIds', 'destinations')],
  describe: (setting) => {
    const { defaultState, isEnabled } = setting as ConsentSettingBody;
    return { type: defaultState, summary: isEnabled ? 'enabled' : 'disabled' };
  },
});
