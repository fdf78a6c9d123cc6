import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonArrayOf } from './json.ts';

test('json array: holds its values, however many there are', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.integer())), (values) => {
      expect(JSON.parse(jsonArrayOf(values.map((value) => JSON.stringify(value))))).toEqual(values);
    }),
  );
});
