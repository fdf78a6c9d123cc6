import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject } from '../../../shared/runtime/json.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { cleanJson } from '../../../shared/visitors/clean-json.ts';
import { JsonWriter } from '../../../shared/json/json-writer.ts';
import { stringifyExact } from '../../../shared/json/exact-numbers.ts';
import { PlainBatchReader, PlainMessage, UnreadableMessage } from './plain-batch.ts';
import { writtenBytesMax } from './plain-writing.ts';
import { posthogCapture } from './posthog.ts';
import { readLenientJson } from './read-lenient-json.ts';
import { specBatch } from './spec-message.ts';
import type { Dialect } from './translation.ts';

const atMs = Date.parse('2026-11-22T12:00:00Z');
const arrival = { atMs, timeWindow: { pastMsMax: 604_800_000, aheadMsMax: 300_000 } };
const limits = { depthMax: 64, keysMax: 5_000, rowsMax: 50 };
const reader = new PlainBatchReader(limits);
const out = new JsonWriter(1_024);

const noHead = { start: 0, end: 0, behindId: new Uint8Array() };

type Event = { readonly id: string; readonly own: string; readonly body: unknown };

/** The events written from a body's messages without parsing; undefined for messages that have to be parsed. */
function writePlain(dialect: Dialect, given: Buffer): readonly (Event | undefined)[] | undefined {
  const body = out.begin(given);
  const read = reader.read(body, false);
  const context = { member: -1, start: 0, end: 0 };
  return read?.messages.map((message) => {
    if (!(message instanceof PlainMessage)) return undefined;
    const start = out.length;
    out.reserve(writtenBytesMax(message.end - message.start, 0));
    const room = out.bytes.length;
    const source = { bytes: body, index: reader.index, body: read.top, arrival, context, head: noHead };
    if (dialect.writePlain?.(message, source, out) !== true) {
      out.backTo(start);
      context.member = -1;
      return undefined;
    }
    expect(out.length).toBeLessThanOrEqual(room);
    const { idStart, idEnd, ownStart, ownEnd } = message.row;
    return {
      id: body.toString('utf8', idStart, idEnd),
      own: body.toString('utf8', ownStart, ownEnd),
      body: JSON.parse(out.bytes.toString('utf8', message.eventStart, out.length)) as unknown,
    };
  });
}

/** The event from a parsed message, for comparison with `writePlain`. */
function translate(dialect: Dialect, message: JsonObject, body: JsonObject): Event | undefined {
  const translation = dialect.translate(message, body, arrival);
  if ('problem' in translation) return undefined;
  const { id = '', identity } = translation;
  const own = identity.userId ?? identity.externalId ?? id;
  return { id, own, body: JSON.parse(JSON.stringify(translation.body)) as unknown };
}

const usual = {
  spec: {
    type: 'track',
    messageId: 'm-1',
    event: 'Order "Completed"',
    userId: 'ada',
    anonymousId: null,
    timestamp: '2026-11-22T11:59:00.250Z',
    properties: { total: 42.5, note: 'größer', items: [{ sku: 'a', nested: { deep: [1, {}] } }], empty: {} },
    context: {
      ip: '203.0.113.7',
      userAgent: 'Mozilla/5.0',
      library: { name: 'analytics-node', version: '3.1.0' },
      page: { url: 'https://shop.test:8080/a/b?c=d#e', referrer: 'https://o.test/', title: null },
      campaign: { name: 'spring' },
      device: { advertisingId: 'x', type: 'ios' },
      locale: 'de-DE',
      traits: {},
    },
    integrations: { All: false },
    channel: 'server',
  },
  posthog: {
    event: 'Order Completed',
    distinct_id: 'ada',
    uuid: 'u-1',
    type: 'capture',
    timestamp: '2026-11-22T11:59:00.250Z',
    properties: {
      total: 42.5,
      $current_url: 'https://shop.test',
      $lib: 'posthog-node',
      $groups: { company: 'acme' },
      token: 'k',
      last: [true, false, null],
    },
  },
};

test.each([
  ['spec', specBatch, { ...usual.spec, anonymousId: 'undefined' }],
  ['spec', specBatch, { ...usual.spec, userId: '[object Object]' }],
  ['posthog', posthogCapture, { ...usual.posthog, distinct_id: 'None' }],
])('plain messages: a message of %s with a placeholder as identifier is parsed', (_, dialect, message) => {
  expect(writePlain(dialect, Buffer.from(JSON.stringify({ batch: [message] })))).toEqual([undefined]);
});

test.each([
  ['spec', specBatch, usual.spec, { sentAt: '2026-11-22T11:59:59.000Z' }],
  ['posthog', posthogCapture, usual.posthog, { sent_at: '2026-11-22T11:59:59.000Z' }],
])(
  'plain messages: a usual message from a library of %s is written without being parsed',
  (_, dialect, message, beside) => {
    const body = { batch: [message, { ...message, properties: null }], ...beside };
    const written = writePlain(dialect, Buffer.from(JSON.stringify(body, undefined, 2)));
    expect(written).toEqual(body.batch.map((one) => translate(dialect, one, body)));
    expect(written).not.toContain(undefined);
  },
);

const text = fc.constantFrom(
  'track',
  'page',
  'a',
  '',
  'x'.repeat(401),
  'https://A.test/p?utm_source=x',
  'http://u@h/',
  'https://é.test/ü',
  'https://b.test',
  '/p\\',
  '\u0001',
  '2026-11-22T11:59:00.000Z',
  '2026-02-29T11:59:00.000Z',
  '2025-01-01T00:00:00.000Z',
  '$identify',
);
const nested = fc.constantFrom(
  {},
  [],
  [{ a: null }],
  { url: 'u', a: [1, { b: true }] },
  'a\n"b"',
  'größe',
  0.25,
  false,
);
const leaf = fc.oneof(
  { weight: 8, arbitrary: fc.oneof(nested, fc.integer(), fc.constant(null)) },
  { weight: 1, arbitrary: text },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) },
);

/** One of the values in nineteen cases of twenty, else any value, so that most messages have at most one odd member. */
const mostly = (...values: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 19, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: leaf });
const some = (members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<JsonObject> =>
  fc.record(members, { requiredKeys: [] });

const id = mostly('ada', 'größe', null);
const time = mostly('2026-11-22T11:59:00.000Z', '2026-11-22T12:59:00+01:00', 1_795_348_740_000, null);
const page = some({
  url: mostly(
    'https://B.test/a?b#c',
    'http://h',
    'HTTP://H:80?q',
    'https://b.test/?msclkid=M',
    'https://b.test/a?epik=E',
  ),
  path: mostly('/a', null),
  title: leaf,
  referrer: leaf,
  search: mostly('?b', '?li_fat_id=L', 'gbraid=G'),
});
const context = some({
  page,
  ip: mostly('203.0.113.7', null),
  userAgent: mostly('Mozilla/5.0'),
  library: some({ name: leaf, version: leaf, camelCase: leaf }),
  device: mostly({ advertisingId: 'x', type: null }),
  sessionId: mostly('s'),
  locale: leaf,
  traits: mostly(null, {}, [], 'x'),
  ...Object.fromEntries(['consent', 'other', 'current_url'].map((name) => [name, mostly(null)])),
});
const specMessage = some({
  userId: id,
  anonymousId: id,
  timestamp: time,
  originalTimestamp: time,
  sentAt: time,
  receivedAt: mostly(null, '2026-11-22T11:59:00Z'),
  channel: mostly('web', null),
  traits: mostly(null, {}),
  integrations: leaf,
  properties: fc.dictionary(fc.string(), leaf, { maxKeys: 2 }),
  context,
}).chain((fields) =>
  fc
    .record({ type: mostly('track'), event: mostly('E'), messageId: mostly('m') })
    .map((own) => ({ ...own, ...fields })),
);
const capture = fc.record({
  event: mostly('E'),
  uuid: mostly('u'),
  distinct_id: mostly('d'),
  timestamp: time,
  properties: some({
    $current_url: mostly('https://B.test/a?b#c', 'http://h'),
    $host: mostly('b.test'),
    $pathname: mostly('/a'),
    $lib: leaf,
    token: leaf,
    plan: leaf,
    after: leaf,
    $is_identified: mostly(null, true, false),
    ...Object.fromEntries(['$ip', '$device_id', 'alias', '$set', 'userHash'].map((name) => [name, mostly(null)])),
  }).map((properties) => withoutNulls(properties)),
});
const withoutNulls = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));

/** The JSON with a duplicate of the first `event` member, as from an encoder that does not check names. */
const twice = (json: string): string => json.replace('"event":"E"', '"event":"E","event":"F"');

test.each<readonly [string, Dialect, fc.Arbitrary<JsonObject>, fc.Arbitrary<object>]>([
  ['spec', specBatch, specMessage, some({ sentAt: time, context: mostly(null), integrations: mostly(null) })],
  ['posthog', posthogCapture, capture, some({ sent_at: time })],
])('plain messages: an event written from %s bytes equals the translated event', (_, dialect, message, beside) => {
  let plain = 0;
  fc.assert(
    fc.property(fc.array(message, { minLength: 2, maxLength: 2 }), beside, fc.nat(9), ([one, two], more, chance) => {
      const batch = [one, { ...one, channel: 'same' }, { ...one, context: {} }, one, one, { ...one, ...two }, two, one];
      const json = JSON.stringify({ ...more, batch });
      const bytes = Buffer.from(chance === 0 ? twice(json) : json);
      const body = JSON.parse(bytes.toString()) as JsonObject;
      const parsed = body['batch'] as readonly JsonObject[];
      const written = writePlain(dialect, bytes) ?? [];
      for (const [index, event] of written.entries()) {
        if (event === undefined) continue;
        plain += 1;
        expect(event).toEqual(translate(dialect, parsed[index] ?? {}, body));
      }
    }),
    { numRuns: 1_000 },
  );
  // Enough plain messages for the comparison to count.
  expect(plain).toBeGreaterThan(400);
});

test.each([
  ['is empty', {}],
  ['names an address alone', { ip: '203.0.113.7' }],
  ['has a page', { page: { url: 'https://a.test/b' }, ip: '203.0.113.7' }],
])('plain messages: a context that %s is translated alike for every message that has it', (_, context) => {
  const one = { type: 'track', event: 'E', messageId: 'm', context };
  const batch = [
    one,
    { ...one, channel: 'web' },
    one,
    { ...one, context: { locale: 'de' } },
    { ...one, channel: 'web' },
  ];
  const written = writePlain(specBatch, Buffer.from(JSON.stringify({ batch })));
  expect(written).toEqual(batch.map((message) => translate(specBatch, message, {})));
});

test.each([
  ['differ in values alone', [{ a: 1 }, { a: 'x' }, { a: null }, { a: -2.5 }]],
  ['have members of other kinds', [{ a: 1 }, { a: {} }, { a: { b: 1 } }, { a: [] }, { a: [1] }, { a: {} }]],
  ['have members within others, or beside them', [{ a: { b: 1, c: 2 } }, { a: { b: 1 }, c: 2 }, { a: { b: 1, c: 3 } }]],
  ['miss some, or have more', [{ a: 1, b: 2 }, { a: 1 }, { a: 1, b: 2 }, { a: 1, b: 2, c: 3 }]],
  [
    'have others in their place',
    [
      { a: 1, b: 2 },
      { b: 1, a: 2 },
      { a: 1, $lib: 'l' },
      { a: 1, $lib: 'm' },
    ],
  ],
])('plain messages: consecutive messages that %s are each translated by their own members', (_, values) => {
  const spec = { type: 'track', event: 'E', messageId: 'm', timestamp: '2026-11-22T11:59:00.000Z' };
  const tracks = values.flatMap((value) => [
    { ...spec, properties: value, context: { library: value, page: { title: value } } },
    { ...spec, context: { library: value }, properties: value },
  ]);
  expect(writePlain(specBatch, Buffer.from(JSON.stringify({ batch: tracks })))).toEqual(
    tracks.map((message) => translate(specBatch, message, {})),
  );
  const captures = values.map((value) => ({ event: 'E', uuid: 'u', distinct_id: 'd', properties: value }));
  expect(writePlain(posthogCapture, Buffer.from(JSON.stringify({ batch: captures })))).toEqual(
    captures.map((message) => translate(posthogCapture, message, {})),
  );
});

test('plain messages: a body is split only if it is readable, into the same messages as when parsed as a whole', () => {
  const piece = fc.constantFrom('', ' ', '\n', '"', ',', ']', '[', '}', '{', '1', '\\u0000', 'NaN', '"__proto__":1,');
  const body = fc.record({ batch: fc.array(fc.oneof(specMessage, leaf), { maxLength: 3 }), more: fc.jsonValue() });
  fc.assert(
    fc.property(body, fc.nat(), fc.nat(2), piece, (value, at, removed, put) => {
      const json = JSON.stringify(value);
      const index = at % (json.length + 1);
      const changed = json.slice(0, index) + put + json.slice(index + removed);
      const bytes = Buffer.from(changed);
      const read = reader.read(bytes, false);
      if (read === undefined) return;
      const whole = readLenientJson(bytes, limits);
      expect(whole.refusal).toBeUndefined();
      const wholeValue = whole.refusal === undefined ? whole.value : undefined;
      if (!isJsonObject(wholeValue)) return expect.unreachable('a body that is taken apart is an object');
      const expected = cleanJson(wholeValue);
      expect(cleanJson(read.top)).toEqual({ ...expected, batch: [] });
      const messages = read.messages.map((message) =>
        message instanceof PlainMessage
          ? (JSON.parse(bytes.toString('utf8', message.start, message.end)) as unknown)
          : message,
      );
      expect(cleanJson({ messages })).toEqual({ messages: expected['batch'] });
    }),
    { numRuns: 2_000 },
  );
});

const deep = JSON.parse('[{"a":'.repeat(33) + '1' + '}]'.repeat(33)) as unknown;

test('plain messages: a message with too many keys is left out', () => {
  const wide = Object.fromEntries(Array.from({ length: 5_001 }, (_, key) => [`k${key}`, 1]));
  const read = reader.read(Buffer.from(JSON.stringify({ batch: [wide, { a: 1 }] })), false);
  expect(read?.messages).toEqual([{ problem: 'a message has more than 5000 keys' }, { a: 1 }]);
});

test('plain messages: a message with too many levels is left out with the reason, and other messages are read', () => {
  const read = reader.read(Buffer.from(JSON.stringify({ batch: [{ a: 1 }, deep, { a: 2 }] })), false);
  expect(read?.messages.map((message) => message instanceof PlainMessage)).toEqual([true, false, true]);
  expect(read?.messages[1]).toMatchObject({ problem: expect.stringMatching(/nests deeper than \d+ levels/) as string });
});

test.each([
  ['more messages than are taken', { batch: Array.from({ length: 51 }, () => ({})) }],
  ['too many levels beside its messages', { batch: [{}], more: deep }],
  ['no batch', { messages: [] }],
])('plain messages: a body with %s is not split', (_, body) => {
  expect(reader.read(Buffer.from(JSON.stringify(body)), false)).toBeUndefined();
});

test('plain batch: messages that are repaired, too deep or not UTF-8 do not affect each other', () => {
  const nested = `${'['.repeat(100)}${']'.repeat(100)}`;
  const bytes = Buffer.from(
    `{"sentAt":NaN,"batch":[{"a":"x\\u0000","n":9007199254740993},{"a":NaN},{"a":${nested}},{"a":"?"},{"n":1.50},{"__proto__":1}]}`,
  );
  bytes[bytes.indexOf('?')] = 0xfc;
  const read = reader.read(bytes, false);
  const [nulls, bare, tooDeep, notUtf8, plain, prototype] = read?.messages ?? [];
  expect(read).toMatchObject({ mended: true, top: { sentAt: null, batch: [] } });
  expect(stringifyExact(nulls, nulls)).toBe('{"a":"x","n":9007199254740993}');
  expect([bare, prototype]).toEqual([{ a: null }, {}]);
  expect([tooDeep, notUtf8].map((one) => one instanceof UnreadableMessage)).toEqual([true, true]);
  expect(plain).toBeInstanceOf(PlainMessage);
});
