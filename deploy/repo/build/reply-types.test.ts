import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { nullable } from '../../../shared/contracts/config/define-collection.ts';
import { typeOf } from './reply-types.ts';

test.each([
  [
    Type.Object({ a: Type.Integer(), b: Type.Optional(Type.String()) }),
    '{ readonly "a": number; readonly "b"?: string; }',
  ],
  [Type.Array(nullable(Type.Boolean())), 'readonly (boolean | null)[]'],
  [Type.Enum(['one', 'two']), '"one" | "two"'],
  [Type.Record(Type.String(), Type.Unknown()), 'Readonly<Record<string, unknown>>'],
  [Type.Literal('x'), '"x"'],
  [Type.Unknown(), 'unknown'],
])('types of replies: %j', (schema, type) => {
  expect(typeOf(schema)).toBe(type);
});
