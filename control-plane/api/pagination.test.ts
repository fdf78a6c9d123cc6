import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { createPaginator } from './pagination.ts';

const key = randomBytes(32).toString('base64');
const paginator = createPaginator(key);
const list = { list: 'things', accountId: 'a', filters: { status: 'On', type: undefined } };
const cursorAt = (position: readonly (string | number)[]): string => {
  const rows = [position, position];
  return (
    paginator.page(
      list,
      1,
      rows,
      (row) => row,
      (row) => row,
    ).pagination.nextCursor ?? ''
  );
};

test('cursors: a cursor reads back as its position in every process with the same key', () => {
  const other = createPaginator(key);
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.integer(), fc.string({ unit: 'grapheme' }))), (position) => {
      expect(other.read({ cursor: cursorAt(position) }, list).after).toEqual(position);
    }),
  );
});

test('cursors: a cursor of the previous key is accepted while keys are rotated, but not afterwards', () => {
  const next = randomBytes(32).toString('base64');
  const cursor = cursorAt([7, 'id']);
  expect(createPaginator(next, key).read({ cursor }, list).after).toEqual([7, 'id']);
  expect(() => createPaginator(next).read({ cursor }, list)).toThrow(/cursor must be/);
});

test('cursors: a cursor with any changed character is refused', () => {
  const cursor = cursorAt([1_700_000_000_000, 'some-id']);
  fc.assert(
    fc.property(fc.nat(cursor.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, letter) => {
      fc.pre(cursor[at] !== letter);
      const changed = cursor.slice(0, at) + letter + cursor.slice(at + 1);
      expect(() => paginator.read({ cursor: changed }, list)).toThrow(/cursor must be/);
    }),
    { numRuns: 300 },
  );
});

test('cursors: a cursor is refused for another list, account, filter or key', () => {
  const cursor = cursorAt([1]);
  const refused = (other: object, reader = paginator): void =>
    expect(() => reader.read({ cursor }, { ...list, ...other })).toThrow(/cursor must be/);
  refused({ list: 'others' });
  refused({ accountId: 'b' });
  refused({ filters: { status: 'Off' } });
  refused({ filters: { status: 'On', type: 'x' } });
  refused({}, createPaginator(randomBytes(32).toString('base64')));
  expect(paginator.read({ cursor }, { ...list, filters: { status: 'On' } }).after).toEqual([1]);
});

test.each([
  [undefined, 25],
  [0, 1],
  [-7, 1],
  [1, 1],
  [100, 100],
  [101, 100],
  [Number.MAX_SAFE_INTEGER, 100],
])('limit: %s becomes %i', (limit, expected) => {
  expect(paginator.read(limit === undefined ? {} : { limit }, list).limit).toBe(expected);
});

test('pages: the last page has no cursor', () => {
  const page = paginator.page(
    list,
    3,
    [1, 2, 3],
    (row) => [row],
    (row) => row,
  );
  expect(page).toEqual({ entities: [1, 2, 3], pagination: { nextCursor: null, hasMore: false } });
  expect(
    paginator.page(
      list,
      3,
      [],
      (row) => [row],
      (row) => row,
    ).entities,
  ).toEqual([]);
});
