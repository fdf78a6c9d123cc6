import { Type } from 'typebox';
import {
  defineCollection,
  descriptionField,
  enabledStatus,
  nameField,
  nullable,
  references,
  textOf,
} from '../contracts/config/define-collection.ts';

/** A container of tags, triggers and variables for one web source. */
export const tagManagers = defineCollection({
  name: 'tagManagers',
  allowlisted: false,
  noun: 'tag manager',
  uniqueNames: true,
  body: Type.Object({
    name: nameField,
    description: descriptionField,
    status: enabledStatus,
    /** The source whose pages load it. */
    sourceId: nullable(Type.String({ minLength: 1, maxLength: 64 })),
  }),
  defaults: { description: null, status: 'Enabled', sourceId: null },
  filters: ['status'],
  references: [references('sourceId', 'sources')],
  describe: ({ status }) => ({ type: '', summary: textOf(status) }),
});
