import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeSettledNote, encodeSettledNote } from './retry-record.ts';

test('property: a settled note reads as it was written', () => {
  const settled = fc.array(fc.tuple(fc.nat(), fc.array(fc.nat(500)))).map((entries) => new Map(entries));
  fc.assert(
    fc.property(settled, (lines) => {
      expect(decodeSettledNote(encodeSettledNote(lines))).toEqual(lines);
    }),
  );
});

test.each([
  '',
  'no json',
  'null',
  '[]',
  '{"v":2,"settled":[[1,[0]]]}',
  '{"v":1,"settled":7}',
  '{"v":1,"settled":[1,["x",[0]]]}',
])('settled note: %j says nothing', (text) => {
  expect(decodeSettledNote(Buffer.from(text))).toEqual(new Map());
});
