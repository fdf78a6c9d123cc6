import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SubjectError } from '../subjects.ts';
import {
  TrackHeads,
  accountEndOfLine,
  accountOfLine,
  bodyBytes,
  endHead,
  envelopeHead,
  envelopeLine,
  envelopePrefix,
  readEnvelope,
  startHead,
  trackHeadParts,
} from './envelope.ts';
import { FrameError } from './frame.ts';
import { anyText } from '../../testing/any-text.ts';

const good = { v: 1, kind: 'track', id: 'e', account: 'a', source: 's', at: 1, body: { event: 'E' } };

test('readEnvelope: returns the envelope unchanged', () => {
  expect(readEnvelope(JSON.stringify(good))).toEqual(good);
});

test.each([
  ['no JSON', '{"v":1,'],
  ['null', 'null'],
  ['a list', '[]'],
  ['another version', JSON.stringify({ ...good, v: 3 })],
  ['a released one that does not say how often', JSON.stringify({ ...good, v: 2 })],
  ['no id', JSON.stringify({ ...good, id: undefined })],
  ['an unknown kind', JSON.stringify({ ...good, kind: 'page' })],
  ['a body that is a list', JSON.stringify({ ...good, body: [] })],
])('readEnvelope: refuses %s', (_name, line) => {
  expect(() => readEnvelope(line)).toThrow(FrameError);
});

test.each(['account', 'source', 'id', 'at', 'kind', 'body'])(
  'readEnvelope: refuses an envelope in which %s is missing or has another type',
  (name) => {
    const { [name as keyof typeof good]: _, ...lacking } = good;
    const other = { ...good, [name]: name === 'at' ? '1' : 7 };
    for (const one of [lacking, other]) expect(() => readEnvelope(JSON.stringify(one))).toThrow('lacks a valid');
  },
);

test('readEnvelope: a released envelope has the number of its releases, and may be an identify', () => {
  const released = { ...good, v: 2, release: 1, kind: 'identify' };
  expect(readEnvelope(JSON.stringify(released))).toEqual(released);
  expect(() => readEnvelope(JSON.stringify({ ...released, release: '1' }))).toThrow('lacks a valid');
  expect(() => readEnvelope(JSON.stringify({ ...good, v: 3 }))).toThrow('version 3 is newer');
});

test('envelope heads: startHead: contains exactly the fields that the request has', () => {
  const prefix = envelopePrefix({ account: 'a', source: 's', test: true });
  expect(prefix).toBe('{"v":1,"account":"a","source":"s","test":true');
  expect(startHead(prefix, { at: 7 })).toBe(`${prefix},"at":7`);
  expect(startHead(prefix, { at: 7, gpc: false })).toBe(`${prefix},"at":7`);
  const all = { at: 7, ip: 'i"', ua: 'u', trace: 't', gpc: true, ctxJson: '{"x":1}' };
  const start = startHead(prefix, all);
  expect(start).toBe(`${prefix},"at":7,"ip":"i\\"","ua":"u","trace":"t","gpc":true,"ctx":{"x":1}`);
  expect(endHead(start, { kind: 'identify', id: 'e"', bot: 0 })).toBe(
    `${start},"kind":"identify","id":"e\\"","bot":0,"body":`,
  );
  const { beforeId, behindId } = trackHeadParts(start);
  expect(`${beforeId.toString()}e${behindId.toString()}`).toBe(endHead(start, { kind: 'track', id: 'e' }));
});

test('accountEndOfLine: the end of the account is found only within its own line', () => {
  const line = '{"v":1,"account":"abc"';
  const bytes = Buffer.from(`${line}\n"`);
  expect(accountEndOfLine(bytes, 0, line.length)).toBe(line.length - 1);
  for (const end of [line.length - 1, 18, 17, 0]) expect([end, accountEndOfLine(bytes, 0, end)]).toEqual([end, -1]);
});

test('readEnvelope: refuses an account that must not be part of a subject', () => {
  expect(() => readEnvelope(JSON.stringify({ ...good, account: 'a.b' }))).toThrow(SubjectError);
});

const plainId = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
  .filter((text) => !/["\\\p{Cc}\p{Cs}]/u.test(text));

test('accountOfLine: agrees with readEnvelope on lines as the gateway writes them, and finds no account in other lines', () => {
  const id = fc.stringMatching(/^[A-Za-z0-9-]{1,40}$/);
  fc.assert(
    fc.property(id, fc.string(), fc.boolean(), (account, source, isTest) => {
      const prefix = envelopePrefix({ account, source, test: isTest });
      const line = envelopeLine(envelopeHead(prefix, { kind: 'track', id: 'e', at: 1 }), '{"event":"E","account":"b"}');
      // The account is found wherever the line starts in the bytes, and bytes after the line are not read.
      const bytes = Buffer.from(`before\n${line}\n"behind"`);
      const [start, end] = [7, bytes.lastIndexOf('\n')];
      const accountEnd = accountEndOfLine(bytes, start, end);
      expect(accountOfLine(bytes, start, accountEnd)).toBe(readEnvelope(line).account);
    }),
  );
  for (const line of ['', '{}', '{"v":1,"account":"a', JSON.stringify(good)]) {
    const bytes = Buffer.from(`${line}\n{"v":1,"account":"b"}`);
    expect(accountEndOfLine(bytes, 0, line.length)).toBe(-1);
  }
});

test('envelope heads: envelopeLine: a written line is read back unchanged', () => {
  const optional = fc.option(anyText(), { nil: undefined });
  const head = fc.record({
    kind: fc.constantFrom('track' as const, 'identify' as const),
    id: anyText(),
    at: fc.nat(),
    ip: optional,
    ua: optional,
    trace: optional,
    bot: fc.option(fc.nat(100), { nil: undefined }),
  });
  const body = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { noNullPrototype: true });
  fc.assert(
    fc.property(head, body, fc.boolean(), (given, json, test) => {
      const prefix = envelopePrefix({ account: 'acc', source: 'src', test });
      const line = envelopeLine(envelopeHead(prefix, given), JSON.stringify(json));
      const written = { v: 1, account: 'acc', source: 'src', ...(test ? { test } : {}), ...given, body: json };
      const envelope = readEnvelope(line);
      expect(envelope).toEqual(JSON.parse(JSON.stringify(written)));
      expect(bodyBytes(line, envelope)).toBe(Buffer.byteLength(JSON.stringify(json)));
    }),
  );
});

test('envelope: bodyBytes: the size of a row does not include the defaults of its batch', () => {
  const prefix = envelopePrefix({ account: 'acc', source: 'src', test: false });
  const ctxJson = JSON.stringify({ defaultProperties: { a: 1, body: { b: 2 } } });
  const line = envelopeLine(envelopeHead(prefix, { kind: 'track', id: 'e', at: 1, ctxJson }), '{"event":"ä"}');
  expect(bodyBytes(line, readEnvelope(line))).toBe(14);
});

test('envelope heads: TrackHeads: a head is the same as the head that endHead makes', () => {
  const start = envelopePrefix({ account: 'acc', source: 'src', test: false });
  fc.assert(
    fc.property(fc.array(plainId, { minLength: 1 }), fc.option(fc.nat(100), { nil: undefined }), (ids, bot) => {
      const heads = new TrackHeads(start, 400);
      for (const id of ids) {
        const body = Buffer.from(`{"distinctId":"${id}"}`);
        const place = { idStart: 15, idEnd: body.length - 2 };
        expect(Buffer.from(heads.of(place, body, bot)).toString()).toBe(endHead(start, { kind: 'track', id, bot }));
      }
    }),
  );
});
