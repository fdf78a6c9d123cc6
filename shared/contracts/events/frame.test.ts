import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sampleEvent } from '../../destinations/sdk/sample-event.ts';
import { jsonDepthCeiling } from '../../runtime/json-depth.ts';
import { decodeEnvelopes, envelopeHead, envelopePrefix } from './envelope.ts';
import type { EnvelopeHead } from './envelope.ts';
import {
  FrameError,
  FrameWriter,
  asBuffer,
  assertFrame,
  countLines,
  eachLine,
  endOfLine,
  frameLines,
  parseLine,
  startOfLine,
  textLines,
} from './frame.ts';
import { encodeResolved, parseResolved } from './resolved-event.ts';
import { copied } from './testing/copied-record.ts';
import { decodeRetryFrame, encodeRetryRecord } from './retry-record.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 60 });
const optionalText = fc.option(text, { nil: undefined });
const head: fc.Arbitrary<EnvelopeHead> = fc.record({
  kind: fc.constantFrom('track' as const, 'identify' as const),
  id: text,
  at: fc.integer({ min: 0, max: 4_102_444_800_000 }),
  ip: optionalText,
  ua: optionalText,
  trace: optionalText,
});
const event = fc.record({ head, test: fc.boolean(), body: fc.dictionary(text, fc.jsonValue({ maxDepth: 3 })) });

test('frame: appended envelopes are read back, however small the buffer was at first', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 20 }), fc.integer({ min: 1, max: 200 }), (events, initialBytes) => {
      const writer = new FrameWriter(initialBytes);
      for (const { head, test: isTest, body } of events) {
        const prefix = envelopePrefix({ account: 'acc', source: 'src', test: isTest });
        writer.appendEnvelope(envelopeHead(prefix, head), Buffer.from(JSON.stringify(body)));
      }
      const read = decodeEnvelopes(writer.bytes());
      expect(writer.events).toBe(events.length);
      expect(read).toEqual(
        events.map(({ head, test: isTest, body }) => ({
          v: 1,
          account: 'acc',
          source: 'src',
          ...(isTest ? { test: true } : {}),
          kind: head.kind,
          id: head.id,
          at: head.at,
          ...(head.ip === undefined ? {} : { ip: head.ip }),
          ...(head.ua === undefined ? {} : { ua: head.ua }),
          ...(head.trace === undefined ? {} : { trace: head.trace }),
          // Converted to JSON and back, as the appended body was: -0 becomes 0.
          body: JSON.parse(JSON.stringify(body)),
        })),
      );
    }),
  );
});

test('frame: a part of a larger body can be embedded', () => {
  const body = Buffer.from('{"events":[{"event":"a"},{"event":"b"}]}');
  const writer = new FrameWriter();
  const prefix = envelopePrefix({ account: 'acc', source: 'src', test: false });
  writer.appendEnvelope(envelopeHead(prefix, { kind: 'track', id: '1', at: 5 }), body, 25, 38);
  expect(decodeEnvelopes(writer.bytes())[0]?.body).toEqual({ event: 'b' });
});

test('frame: counting lines, walking over lines and splitting a frame into lines agree', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue({ maxDepth: 2 })), (values) => {
      const writer = new FrameWriter();
      const lines = values.map((value) => JSON.stringify(value));
      for (const line of lines) writer.appendLine(line);
      const bytes = asBuffer(writer.bytes());
      const walked: string[] = [];
      eachLine(bytes, (start, end) => walked.push(bytes.toString('utf8', start, end)));
      expect(frameLines(bytes)).toEqual(lines);
      expect(walked).toEqual(lines);
      expect(countLines(bytes)).toBe(lines.length);
    }),
  );
  expect(countLines(new Uint8Array())).toBe(0);
});

test('frame: a last line without a line end is a line, but the frame is incomplete', () => {
  const cut = Buffer.from('a\nbc');
  expect(textLines(cut)).toEqual(['a', 'bc']);
  expect([0, 2, 3].map((at) => [startOfLine(cut, at), endOfLine(cut, at)])).toEqual([
    [0, 1],
    [2, 4],
    [2, 4],
  ]);
  expect(() => assertFrame(cut)).toThrow(FrameError);
  expect(() => frameLines(cut)).toThrow('no end');
  for (const whole of ['', 'a\n', '\n']) expect(() => assertFrame(Buffer.from(whole))).not.toThrow();
  expect(countLines(cut)).toBe(1);
  const empty = Buffer.from('\na\n');
  expect([countLines(empty), endOfLine(empty, 0)]).toEqual([2, 0]);
  expect(() => parseLine('{')).toThrow(FrameError);
});

test('frame: the writer reports how much it contains, and a line may be assembled from pieces', () => {
  const writer = new FrameWriter(16);
  writer.appendLineOf('{"a":', { bytes: Buffer.from('x[1]x'), start: 1, end: 4 }, '}');
  writer.appendEnvelope('', Buffer.from('{"v":1,"body":{}'));
  writer.appendEnvelope(Buffer.from('{"v":2,"body":'), Buffer.from('{}'));
  const text = '{"a":[1]}\n{"v":1,"body":{}}\n{"v":2,"body":{}}\n';
  expect(Buffer.from(writer.bytes()).toString()).toBe(text);
  expect([writer.events, writer.length, writer.capacity >= text.length]).toEqual([3, text.length, true]);
  writer.reset();
  expect([writer.events, writer.length]).toEqual([0, 0]);
});

test('frame: bytes that were returned do not change when the writer is used again', () => {
  const writer = new FrameWriter(16);
  writer.appendLine('{"v":1,"n":1}');
  const first = writer.bytes();
  writer.reset();
  writer.appendLine('{"v":1,"n":2}');
  expect(Buffer.from(first).toString()).toBe('{"v":1,"n":1}\n');
});

test.each([
  ['a version this build does not know', '{"v":2,"body":{}}\n'],
  ['a line that is not JSON', '{"v":1\n'],
  ['a frame cut short', '{"v":1,"body":{}}'],
])('frame: %s is an error, not an event', (_name, bytes) => {
  expect(() => decodeEnvelopes(Buffer.from(bytes))).toThrow(FrameError);
});

test('frame: JSON of the maximum depth can be read at every step, and one level more cannot', () => {
  const ways = [0, 1].map((more) => {
    // A webhook's body becomes the properties of an event.
    const properties = JSON.parse(nested(jsonDepthCeiling + more)) as object;
    const resolved = sampleEvent({ event_properties: properties as Record<string, unknown> });
    const record = { attempts: 1, firstAttemptAt: 1, lastAttemptAt: 1, notBefore: 1, reason: '-' } as const;
    const writer = new FrameWriter();
    writer.appendLine(encodeRetryRecord({ ...record, ...copied(resolved) }));
    return {
      envelope: () => parseLine(`{"v":1,"body":{"event":"e","eventProperties":${JSON.stringify(properties)}}}`),
      resolved: () => parseResolved(encodeResolved(resolved)),
      retried: () => decodeRetryFrame(writer.bytes()),
    };
  });
  const [fits, tooDeep] = ways;
  for (const read of Object.values(fits ?? {})) expect(read).not.toThrow();
  for (const read of Object.values(tooDeep ?? {})) expect(read).toThrow(/a line nests deeper than 51[45] levels/);
});

const nested = (levels: number): string =>
  `${'{"a":['.repeat(levels >> 1)}${levels % 2 === 1 ? '{}' : '1'}${']}'.repeat(levels >> 1)}`;
