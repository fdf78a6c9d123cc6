import fc from 'fast-check';
import { expect, test } from 'vitest';
import { textNestsDeeper, valueNestsDeeper } from './json-depth.ts';

const depthOf = (node: unknown): number =>
  typeof node === 'object' && node !== null ? 1 + Math.max(0, ...Object.values(node).map(depthOf)) : 0;

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('[', ']}', '"[[', '\\', '\\"{', '{"a":['));
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 9, withCrossShrink: true },
    fc.oneof(text, fc.constantFrom(null, true, -1.5)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(text, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

test('json depth: a JSON text and its value are judged too deep exactly if their depth exceeds the limit', () => {
  fc.assert(
    fc.property(json, fc.nat(12), (value, depthMax) => {
      const isDeeper = depthOf(value) > depthMax;
      expect(valueNestsDeeper(value, depthMax)).toBe(isDeeper);
      expect(textNestsDeeper(JSON.stringify(value), depthMax)).toBe(isDeeper);
      expect(textNestsDeeper(JSON.stringify(value, undefined, '\t'), depthMax)).toBe(isDeeper);
    }),
  );
});

const nested = (levels: number): string => {
  const odd = levels % 2 === 1;
  return `${'[{"a":'.repeat(levels >> 1)}${odd ? '[]' : '1'}${'}]'.repeat(levels >> 1)}`;
};

test.each([
  ['the limit', nested(512), false],
  ['one more', nested(513), true],
  ['100,000 levels', nested(100_000), true],
  ['100,000 unclosed levels', '['.repeat(100_000), true],
  ['as many brackets side by side', `[${'[],'.repeat(100_000)}{}]`, false],
  ['brackets in a text', JSON.stringify([nested(100_000)]), false],
  ['brackets behind an escaped quote', JSON.stringify({ a: `\\"${'['.repeat(2_000)}` }), false],
  ['brackets in keys', JSON.stringify({ ['{'.repeat(2_000)]: { '[': 1 } }), false],
])('json depth: %s', (_name, json, isDeeper) => {
  expect(textNestsDeeper(json, 512)).toBe(isDeeper);
});

test('json depth: a value of 100,000 levels is judged without walking them', () => {
  expect(valueNestsDeeper(JSON.parse(nested(100_000)), 512)).toBe(true);
  expect([512, 513].map((levels) => valueNestsDeeper(JSON.parse(nested(levels)), 512))).toEqual([false, true]);
});
