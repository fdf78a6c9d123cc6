import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinParts, readPlace, writePlace } from './dispatch-place.ts';
import { countBits, hasBit, setBit } from '../events/line-bits.ts';

const ascending = fc.uniqueArray(fc.integer({ min: 1, max: 1e9 })).map((seqs) => seqs.toSorted((a, b) => a - b));
const bits = fc.array(fc.nat(5_000), { minLength: 1 }).map((lines) => {
  let set: Uint8Array | undefined;
  for (const line of lines) set = setBit(set, line);
  return { lines, set: set ?? new Uint8Array() };
});

test('dispatch place: property: a place that is written and read again is unchanged', () => {
  fc.assert(
    fc.property(ascending, fc.nat(), bits, ([upTo = 0, ...above], storedUntilMs, { lines, set }) => {
      const place = { finished: { upTo, above, storedUntilMs }, parts: [{ seq: 7, storedAtMs: 8, lines: set }] };
      const read = readPlace(JSON.parse(JSON.stringify(writePlace(place))) as ReturnType<typeof writePlace>);
      expect(read.finished).toEqual(place.finished);
      expect(countBits(read.parts[0]?.lines, 10_000)).toBe(new Set(lines).size);
      for (const line of lines) expect(hasBit(read.parts[0]?.lines, line)).toBe(true);
    }),
  );
});

test('dispatch place: several: a line is settled if any place has it settled; for a reused sequence the newer frame counts', () => {
  const finished = { upTo: 0, above: [], storedUntilMs: 0 };
  const part = (seq: number, storedAtMs: number, ...lines: number[]) => ({
    seq,
    storedAtMs,
    lines: Uint8Array.from(lines),
  });
  const joined = joinParts([
    { finished, parts: [part(1, 10, 0b01), part(2, 10, 0b01)] },
    { finished, parts: [part(1, 10, 0b10, 1), part(2, 20, 0b10)] },
  ]);
  expect([...(joined.get(1)?.lines ?? [])]).toEqual([0b11, 1]);
  expect([...(joined.get(2)?.lines ?? [])]).toEqual([0b10]);
});
