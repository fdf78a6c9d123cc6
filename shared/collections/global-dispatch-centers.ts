import { Type } from 'typebox';
import type { Static } from 'typebox';
import { logicSchema } from '../routing/predicate/logic-schema.ts';
import {
  defineCollection,
  descriptionField,
  idList,
  nameField,
  nullable,
} from '../contracts/config/define-collection.ts';

const category = Type.Object(
  {
    name: nameField,
    description: Type.Optional(descriptionField),
    priority: Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 }),
    destinationIds: idList(),
    /** Events for which the logic is true are not sent to the category's destinations. Null stops no event. */
    logic: nullable(logicSchema),
  },
  { additionalProperties: false },
);

const body = Type.Object({
  name: nullable(nameField),
  notes: descriptionField,
  isEnabled: Type.Boolean(),
  categories: Type.Array(category, { maxItems: 200 }),
});

type GlobalDispatchCenterBody = Static<typeof body>;

/** Account-wide rules that exclude events before the rules of any single destination. */
export const globalDispatchCenters = defineCollection({
  name: 'globalDispatchCenters',
  noun: 'global dispatch center',
  ids: 'slug',
  single: true,
  body,
  defaults: { name: null, notes: null, isEnabled: true, categories: [] },
  references: [
    {
      field: 'categories',
      collection: 'destinations',
      ids: (center) =>
        ((center as Partial<GlobalDispatchCenterBody>).categories ?? []).flatMap((one) => one.destinationIds),
    },
  ],
  describe: (center) => {
    const { categories, isEnabled } = center as GlobalDispatchCenterBody;
    return { type: '', summary: `${isEnabled ? 'enabled' : 'disabled'}, ${categories.length} categories` };
  },
});
