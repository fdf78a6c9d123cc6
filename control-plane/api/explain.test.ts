import { Type } from 'typebox';
import { expect, test } from 'vitest';
import { nullable } from '../../shared/contracts/config/define-collection.ts';
import { logicSchema } from '../../shared/routing/predicate/logic-schema.ts';
import { explain } from './explain.ts';

const schema = Type.Object(
  {
    name: nullable(Type.String({ maxLength: 5 })),
    status: Type.Enum(['On', 'Off']),
    size: Type.Optional(Type.Integer({ minimum: 1 })),
    tags: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: 2, uniqueItems: true })),
    inner: Type.Optional(Type.Object({ flag: Type.Boolean() }, { additionalProperties: false })),
    rule: Type.Optional(nullable(logicSchema)),
  },
  { additionalProperties: false },
);
const fine = { name: null, status: 'On' };

test.each([
  [fine, []],
  [{ ...fine, name: 'abcdef' }, ['name must be a string of at most 5 characters or null']],
  [{}, ['name is required', 'status is required']],
  [{ ...fine, status: 'on' }, ['status must be one of On, Off']],
  [{ ...fine, size: 0 }, ['size must be a whole number of at least 1']],
  [{ ...fine, size: 1.5 }, ['size must be a whole number of at least 1']],
  [{ ...fine, tags: ['a', ''] }, ['tags[1] must be a string of at least 1 characters']],
  [{ ...fine, tags: ['a', 'a'] }, ['tags must be an array of at most 2 items, each once']],
  [{ ...fine, inner: { flag: 1 } }, ['inner.flag must be true or false']],
  [{ ...fine, inner: { flag: true, more: 1 } }, ['inner.more is not a known field']],
  [{ ...fine, other: 1 }, ['other is not a known field']],
  [{ ...fine, toString: 1 }, ['toString is not a known field']],
  [null, ['the body must be an object']],
  [[], ['the body must be an object']],
])('explain: %j', (value, problems) => {
  expect(explain(schema, value)).toEqual(problems);
});

test('explain: the problems of a rule are named at its outermost level', () => {
  const rule = { condition: { property: 'a', operator: 'is' }, XOR: [] };
  expect(explain(schema, { ...fine, rule })).toEqual([
    expect.stringMatching(/^rule\.condition\.operator must be one of Is, IsNot, /),
    'rule.XOR is not a known field',
  ]);
});

test('explain: names at most eight problems', () => {
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`field${index}`, 1]));
  expect(explain(schema, { ...fine, ...many })).toHaveLength(8);
});
