import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteWriter } from './byte-writer.ts';

const text = fc.oneof(fc.string({ maxLength: 60 }), fc.string({ unit: 'grapheme', maxLength: 40 }));

test('byte writer: holds texts and byte ranges in the order they were written, however small its first buffer', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(text, fc.boolean(), fc.nat(5)), { maxLength: 20 }),
      fc.integer({ min: 1, max: 64 }),
      (parts, initialBytes) => {
        const writer = new ByteWriter(initialBytes);
        for (const round of [1, 2]) {
          const places = parts.map(([part, isStretch, skipped]) => {
            const start = writer.length;
            const bytes = Buffer.from(part);
            if (isStretch) writer.stretch({ bytes, start: Math.min(skipped, bytes.length), end: bytes.length });
            else writer.text(part);
            return { start, end: writer.length };
          });
          const written = places.map((place) => {
            const { bytes, start, end } = writer.stretchOf(place);
            return bytes.toString('hex', start, end);
          });
          expect({ round, written }).toEqual({
            round,
            written: parts.map(([part, isStretch, skipped]) =>
              Buffer.from(part)
                .subarray(isStretch ? skipped : 0)
                .toString('hex'),
            ),
          });
          expect(writer.capacity).toBeGreaterThanOrEqual(writer.length);
          writer.reset();
        }
      },
    ),
  );
});

test('byte writer: writes a text as JSON.stringify does, and bytes of any length', () => {
  fc.assert(
    fc.property(text, fc.uint8Array({ maxLength: 80 }), fc.nat(5), (of, bytes, skipped) => {
      const writer = new ByteWriter(1);
      writer.quoted(of);
      writer.bytes(bytes, Math.min(skipped, bytes.length));
      const expected = Buffer.concat([Buffer.from(JSON.stringify(of)), bytes.subarray(skipped)]);
      expect(Buffer.from(writer.copy())).toEqual(expected);
    }),
  );
});

test('byte writer: writes any range of a byte array, short or long', () => {
  const source = Buffer.from(Array.from({ length: 100 }, (_, n) => n));
  for (const [start, end] of [
    [0, 100],
    [0, 99],
    [1, 100],
    [60, 100],
    [3, 34],
    [3, 35],
    [3, 36],
    [5, 5],
  ] as const) {
    const writer = new ByteWriter(1);
    writer.text('>');
    writer.bytes(source, start, end);
    writer.text('<');
    const expected = Buffer.concat([Buffer.from('>'), source.subarray(start, end), Buffer.from('<')]);
    expect(Buffer.from(writer.copy())).toEqual(expected);
  }
});

test.each(['"', '\\', '\0', '\u001f', ' ', '~', '\u007f', '\u0080', 'a"', '\ud800'])(
  'byte writer: %j is written as UTF-8, and quoted as JSON',
  (one) => {
    const writer = new ByteWriter(1);
    writer.text(one);
    writer.quoted(one);
    expect(Buffer.from(writer.copy())).toEqual(Buffer.from(one + JSON.stringify(one)));
  },
);

test('byte writer: what fits needs no new buffer, and a full buffer doubles', () => {
  const writer = new ByteWriter(100);
  writer.quoted('x'.repeat(98));
  expect([writer.length, writer.capacity]).toEqual([100, 100]);
  writer.bytes(Buffer.from('x'));
  expect([writer.length, writer.capacity]).toEqual([101, 200]);
});
