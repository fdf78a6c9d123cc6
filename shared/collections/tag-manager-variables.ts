import { Type } from 'typebox';
import { defineCollection, nameField, nullable, references, textOf } from '../contracts/config/define-collection.ts';

/** A value that tags and triggers can use. */
export const tagManagerVariables = defineCollection({
  name: 'tagManagerVariables',
  noun: 'tag manager variable',
  body: Type.Object({
    name: nameField,
    tagManagerId: Type.String({ minLength: 1, maxLength: 64 }),
    type: Type.Enum(['Constant', 'DataLayer', 'Cookie', 'UrlParameter', 'Element', 'Script']),
    /** The constant, or the name, path, selector or script that gives the value. */
    value: Type.String({ maxLength: 20_000 }),
    defaultValue: nullable(Type.String({ maxLength: 2_000 })),
  }),
  defaults: { defaultValue: null },
  filters: ['tagManagerId', 'type'],
  references: [references('tagManagerId', 'tagManagers')],
  describe: ({ type }) => ({ type: textOf(type), summary: '' }),
});
