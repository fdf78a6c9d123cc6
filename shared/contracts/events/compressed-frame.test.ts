import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import { compressFrame, openFrame, openedBytes, openedBytesMax } from './compressed-frame.ts';
import { FrameError, FrameWriter } from './frame.ts';
import { countResolved, decodeResolved, encodeResolved, resolvedEvents } from './resolved-event.ts';
import { eachResolvedLine, findEventsNamed, markNames } from './search-resolved.ts';
import { ResolvedFrame } from './resolved-frame.ts';

const textsOf = (data: Uint8Array): readonly string[] => {
  const frame = ResolvedFrame.open(data);
  return Array.from({ length: frame?.length ?? 0 }, (_, index) => frame?.textAt(index) ?? '');
};

const frameOf = (lines: readonly string[]): Uint8Array => {
  const writer = new FrameWriter();
  for (const line of lines) writer.appendLine(line);
  return writer.bytes();
};

const eventsFrame = (count: number): Uint8Array =>
  frameOf(
    Array.from({ length: count }, (_, index) => encodeResolved(sampleEvent({ id: `e${index}`, event: 'Order' }))),
  );

/** A compressed frame as `compressFrame` writes it, with any content. */
function pack(deflated: Uint8Array, bytes: number): Uint8Array {
  const head = Buffer.from([0x01, 0, 0, 0, 0]);
  head.writeUInt32BE(bytes, 1);
  return Buffer.concat([head, deflated]);
}

test('compressed frame: opening returns the same lines, and the opened size is known before', () => {
  const line = fc.jsonValue().map((value) => JSON.stringify({ value }));
  fc.assert(
    fc.property(fc.array(line, { maxLength: 30 }), fc.integer({ min: 1, max: 20 }), (lines, times) => {
      const frame = frameOf(Array.from({ length: times }, () => lines).flat());
      const compressed = compressFrame(frame);
      expect(compressed.length).toBeLessThanOrEqual(frame.length);
      expect(openedBytes(compressed)).toBe(frame.length);
      expect(openFrame(compressed).equals(frame)).toBe(true);
      expect(openFrame(frame).equals(frame)).toBe(true);
    }),
  );
});

test('compressed frame: a frame with fewer bytes than the smallest chunk of zlib can be opened', () => {
  const frame = frameOf(['{"value":""}', '{"value":""}', '{"value":""}']);
  const compressed = compressFrame(frame);
  expect(compressed.length).toBeLessThan(frame.length);
  expect(openFrame(compressed).equals(frame)).toBe(true);
});

test('compressed frame: every reader of resolved events also reads compressed frames', () => {
  const frame = eventsFrame(40);
  const compressed = compressFrame(frame);
  expect(compressed.length).toBeLessThan(frame.length / 4);
  const linesOf = (bytes: Uint8Array): string[] => {
    const lines: string[] = [];
    eachResolvedLine(bytes, (_maybeTest, line) => lines.push(line().read()));
    return lines;
  };
  const marks = markNames(['Order']);
  for (const read of [
    decodeResolved,
    resolvedEvents,
    textsOf,
    countResolved,
    linesOf,
    (bytes: Uint8Array) => findEventsNamed(bytes, marks),
  ]) {
    expect(read(compressed)).toEqual(read(frame));
  }
  expect(countResolved(compressed)).toBe(40);
  expect(findEventsNamed(compressed, marks)).toHaveLength(40);
});

test('compressed frame: a frame that would not shrink, or is larger than a reader opens, is not compressed', () => {
  const short = Buffer.from('{}\n');
  expect(compressFrame(short)).toBe(short);
  const huge = Buffer.alloc(openedBytesMax + 1, 0x20);
  expect(compressFrame(huge).length).toBe(huge.length);
  const largest = compressFrame(huge.subarray(1));
  expect(largest.length).toBeLessThan(openedBytesMax / 10);
  expect([openFrame(largest).length, openedBytes(largest)]).toEqual([openedBytesMax, openedBytesMax]);
});

const whole = (): Uint8Array => compressFrame(eventsFrame(40));
const bomb = deflateSync(Buffer.alloc(32 * openedBytesMax));

function damaged(): Uint8Array {
  const frame = Buffer.from(whole());
  frame[100] = (frame[100] ?? 0) ^ 0xff;
  return frame;
}

test.each([
  ['cut short', () => whole().subarray(0, -3)],
  ['the mark alone', () => whole().subarray(0, 1)],
  ['the head alone', () => whole().subarray(0, 5)],
  ['something behind its end', () => Buffer.concat([whole(), Buffer.from('{}\n')])],
  ['damaged', damaged],
  ['not deflated at all', () => pack(Buffer.from('{"v":1}\n'), 8)],
  ['longer than it says', () => pack(deflateSync(Buffer.from('{"v":1}\n')), 4)],
  ['shorter than it says', () => pack(deflateSync(Buffer.from('{"v":1}\n')), 400)],
  ['saying it is nothing', () => pack(deflateSync(Buffer.from('{"v":1}\n')), 0)],
  ['a bomb that says so', () => pack(bomb, 32 * openedBytesMax)],
  ['a bomb that says it is small', () => pack(bomb, 1_000)],
])('compressed frame: %s: the frame is unreadable', (_what, make) => {
  const frame = make();
  expect(() => openFrame(frame)).toThrow(FrameError);
  expect(() => decodeResolved(frame)).toThrow(FrameError);
  expect(ResolvedFrame.open(frame)).toBeUndefined();
  expect(resolvedEvents(frame)).toEqual([]);
  expect(findEventsNamed(frame, markNames(['Order']))).toEqual([]);
  expect(countResolved(frame)).toBe(1);
  const lines: string[] = [];
  eachResolvedLine(frame, (_maybeTest, line) => lines.push(line().read()));
  expect(lines).toHaveLength(1);
});

test('compressed frame: any bytes behind the mark are refused as an unreadable frame, and never open to more than the limit', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat({ max: openedBytesMax * 2 }), (bytes, said) => {
      const frame = pack(bytes, said);
      expect(openedBytes(frame)).toBeLessThanOrEqual(openedBytesMax);
      expect(() => openFrame(frame)).toThrow(FrameError);
    }),
  );
});
