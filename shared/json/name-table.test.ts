import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NameTable } from './name-table.ts';

const name = fc.oneof(
  fc.constantFrom('a', 'b', 'aa', 'ab', 'ba', 'event', 'events', 'é'),
  fc.string({ minLength: 1, maxLength: 4 }),
);

test('name table: finds the value added for a name by its bytes, and nothing for any other name', () => {
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 8 }), fc.array(name), fc.nat(4), (names, others, before) => {
      const table = new NameTable(names.map((one, index) => [one, index] as const));
      for (const wanted of [...names, ...others]) {
        const bytes = Buffer.from(`${'"'.repeat(before)}${wanted}"`);
        const index = names.indexOf(wanted);
        expect(table.find(bytes, before, bytes.length - 1)).toBe(index < 0 ? undefined : index);
      }
    }),
  );
});

test('name table: names may be added later, even after a longer name', () => {
  const table = new NameTable<number>();
  const find = (text: string) => table.find(Buffer.from(text), 0, text.length);
  const letters = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
  expect(['event', ...letters].filter((text) => find(text) !== undefined)).toEqual([]);
  table.add(Buffer.from('event'), 1);
  table.add(Buffer.from('at'), 2);
  expect(['event', 'at', 'ev', 'events', 'evens', 'am', ''].map(find)).toEqual([
    1,
    2,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});
