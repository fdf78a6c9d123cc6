import { expect, test } from 'vitest';
import { PlanError } from '../values/plan-error.ts';
import { searchedCharactersMax } from '../values/regex.ts';
import { Work } from '../values/work.ts';
import { compileFindPlaces } from './find-places.ts';
import { compileRuleType } from './rule-types.ts';

const allowed = (count: number): string => JSON.stringify(Array.from({ length: count }, (_, n) => n));

test.each<[string, string | null]>([
  ['Encrypt', null],
  ['Type', null],
  ['Type', 'constructor'],
  ['Type', 'integer'],
  ['Pattern', null],
  ['Pattern', '('],
  ['OneOf', null],
  ['OneOf', 'no JSON'],
  ['OneOf', '{}'],
  ['OneOf', '[]'],
  ['OneOf', '["a",null]'],
  ['OneOf', '["a",["b"]]'],
  ['OneOf', allowed(201)],
  ['Range', null],
  ['Range', ''],
  ['Range', '..'],
  ['Range', '2..1'],
  ['Range', '1'],
  ['Range', '1..2..3'],
  ['Range', 'x1..2'],
  ['Range', '1..2x'],
  ['Range', '1...2'],
])('rule types: %s with %j is refused', (type, expected) => {
  expect(() => compileRuleType({ type, expected })).toThrow(PlanError);
});

/** Whether a value at `x` breaks the rule, and the units of work that the check took. */
function judge(type: string, expected: string, value: unknown): readonly [boolean, number] {
  const work = new Work(1_000_000);
  const found = [{ places: [{ holder: {}, name: 'x', value }], isMissing: false }];
  return [compileRuleType({ type, expected })(found, work) !== undefined, work.spent];
}

test('rule types: a OneOf list may have the maximum number of values, and a Range may contain only one number', () => {
  expect(judge('OneOf', allowed(200), 199)).toEqual([false, 0]);
  expect(judge('OneOf', allowed(200), [1, 2, 200])).toEqual([true, 3]);
  expect(['1..1', ' 1 .. 1.0 '].map((range) => judge('Range', range, 1)[0])).toEqual([false, false]);
});

test('rule types: a pattern costs one unit for each searched character, and text beyond the maximum length does not match', () => {
  expect(judge('Pattern', 'a', 'a'.repeat(searchedCharactersMax))).toEqual([false, searchedCharactersMax]);
  expect(judge('Pattern', 'a', 'a'.repeat(searchedCharactersMax + 1))).toEqual([true, searchedCharactersMax]);
  expect(judge('Pattern', 'A', 'a')).toEqual([true, 1]);
  expect(judge('Pattern', '^1$', 1)).toEqual([false, 1]);
  expect([true, {}, ['a']].map((value) => judge('Pattern', '.', value))).toEqual(
    [true, true, true].map(() => [true, 0]),
  );
});

const placed = { holder: {}, name: 'x', value: 1 };
const lacking = { places: [], isMissing: true };

test.each([
  ['in one of the objects', [lacking, { places: [placed], isMissing: false }], undefined],
  ['in none of the objects', [lacking, lacking], []],
  ['as null', [{ places: [{ ...placed, value: null }], isMissing: false }], []],
  ['in a list beside a null', [{ places: [placed, { ...placed, value: null }], isMissing: false }], []],
  [
    'under one of its names, as null under another',
    [
      { places: [{ ...placed, value: null }], isMissing: false },
      { places: [placed], isMissing: false },
    ],
    undefined,
  ],
  ['in a part of a list', [lacking, { places: [placed], isMissing: true }], []],
])('rule types: a required value that is there %s', (_where, found, broken) => {
  expect(compileRuleType({ type: 'Required', expected: null })(found, new Work(1))).toEqual(broken);
});

const find = (path: string, holder: unknown) => compileFindPlaces(path.split('.'))(holder, new Work(1_000));

test.each<[path: string, holder: unknown, values: readonly unknown[], isMissing: boolean]>([
  ['a', { a: 1 }, [1], false],
  ['a', {}, [], true],
  ['a', undefined, [], true],
  ['a', null, [], true],
  ['a', 'text', [], true],
  ['a.b', { a: { b: 1 } }, [1], false],
  ['a.b', { 'a.b': 1 }, [1], false],
  ['a.b', { a: { b: 1 }, 'a.b': 2 }, [1, 2], false],
  ['a.b', { a: { b: [{}] } }, [[{}]], false],
  ['a.b', { a: 'text', 'a.b': 1 }, [1], false],
  ['a.b', { a: { c: 1 }, 'a.b': 2 }, [2], false],
  ['a.b', { a: [{ c: 1 }], 'a.b': 2 }, [2], true],
  ['a.b', { a: null }, [], true],
  ['a.b', { a: 'text' }, [], true],
  ['a.b.c', { 'a.b': { c: 1 }, a: { 'b.c': 2 } }, [2, 1], false],
  ['a.b.c', { 'a.b': 'text', a: { b: { c: 2 } } }, [2], false],
  ['a.b', { a: [{ b: 1 }, { b: 2 }, 'text', null] }, [1, 2], false],
  ['a.b', { a: [{ b: 1 }, {}] }, [1], true],
  ['a.b', { a: [] }, [], false],
  ['a.0', { a: ['x', 'y'] }, ['x'], false],
  ['a.2', { a: ['x', 'y'] }, [], false],
  ['a.10', { a: Array.from({ length: 11 }, (_, n) => n) }, [10], false],
  ['a.length', { a: ['x', 'y'] }, [], false],
  ['a.1.b', { a: [{}, { b: 1 }] }, [1], false],
  ['a.1.b', { a: [{ b: 1 }, {}] }, [], true],
  ['a.2.b', { a: [{ b: 1 }, {}] }, [], true],
  ['a.0.b', { a: [{ 0: { b: 2 } }, { b: 1 }] }, [2], true],
  ['a.0.0.b', { a: [[{ b: 1 }]] }, [1], false],
  ['__proto__', {}, [], true],
])('find places: %j in %j finds %j', (path, holder, values, isMissing) => {
  const { places, isMissing: lacks } = find(path, holder);
  expect([places.map(({ value }) => value), lacks]).toEqual([values, isMissing]);
});
