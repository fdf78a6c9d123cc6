import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Stretch } from '../../json/byte-writer.ts';
import { envelopeHead, envelopeLine, envelopePrefix } from './envelope.ts';
import { readPlainEnvelope } from './plain-envelope.ts';
import { bodyText, jsonText } from './testing/json-texts.ts';

const prefix = envelopePrefix({ account: 'a', source: 's', test: false });
const head = envelopeHead(prefix, { kind: 'track', id: 'e', at: 1, ip: '1.2.3.4', ua: 'curl "8"' });
/** Reads a line in the middle of a frame: the lines around it must not be read. */
function readLine(line: string) {
  const bytes = Buffer.from(`{"other":1}\n${line}\n{"event":"other"}\n`);
  const start = bytes.indexOf(0x0a) + 1;
  return readPlainEnvelope(bytes, start, start + Buffer.byteLength(line));
}
const read = (body: string, of = head) => readLine(envelopeLine(of, body));

test('readPlainEnvelope: reads the small fields, and refers to the objects as they are written', () => {
  const properties = '{ "price":1.50, "tags":["a",{"b":null}], "name":"W\\nD" }';
  const body = `{"token":"","event":"Viewed","time":5,"externalId":"c-1","properties":${properties},"defaultProperties":{"url":"u"},"more":[]}`;
  const found = read(body);
  const textOf = (taken: Stretch | undefined): string | undefined =>
    taken?.bytes.toString('utf8', taken.start, taken.end);
  expect(
    found && { ...found, properties: textOf(found.properties), defaultMembers: textOf(found.defaultMembers) },
  ).toEqual({
    envelope: {
      v: 1,
      kind: 'track',
      id: 'e',
      account: 'a',
      source: 's',
      at: 1,
      test: undefined,
      trace: undefined,
      bot: undefined,
      ip: '1.2.3.4',
      ua: 'curl "8"',
      body: { event: 'Viewed', time: 5, externalId: 'c-1', email: undefined, userId: undefined },
    },
    properties,
    batchMembers: '',
    defaultMembers: '"url":"u"',
    bodyBytes: Buffer.byteLength(body),
  });
});

test('readPlainEnvelope: each row has the fields of its own request, also when rows of two requests alternate', () => {
  const heads = [1, 2].map((at) => (id: string) => envelopeHead(prefix, { kind: 'track', id, at, ua: `agent ${at}` }));
  const found = [0, 0, 1, 0].map((of, index) => read('{"event":"E"}', heads[of]?.(`row-${index}`)));
  expect(found.map((plain) => [plain?.envelope.id, plain?.envelope.at, plain?.envelope.ua])).toEqual([
    ['row-0', 1, 'agent 1'],
    ['row-1', 1, 'agent 1'],
    ['row-2', 2, 'agent 2'],
    ['row-3', 1, 'agent 1'],
  ]);
});

test('readPlainEnvelope: accepts integrations that exclude no destination', () => {
  for (const integrations of ['{}', '{"All":true,"X":true}', 'null']) {
    expect(read(`{"event":"E","integrations":${integrations}}`)).toBeDefined();
  }
});

test.each([
  ['options of a destination', '{"event":"E","integrations":{"All":true,"X":{"a":1}}}'],
  ['the id of a click', '{"event":"E","defaultProperties":{"gclid":"G"}}'],
  ['an address with one', '{"event":"E","defaultProperties":{"current_url":"https://a.test/?x=1&msclkid=M"}}'],
])('readPlainEnvelope: leaves %s to be parsed', (_, body) => {
  expect(read(body)).toBeUndefined();
  expect(read('{"event":"E","defaultProperties":{"current_url":"https://a.test/?x=1"}}')).toBeDefined();
});

test('readPlainEnvelope: takes the defaultProperties of a batch in addition to other defaultProperties of the row', () => {
  const of = envelopeHead(prefix, {
    kind: 'track',
    id: 'e',
    at: 1,
    ctxJson: '{"defaultProperties":{"é":"x","a":1.0}}',
  });
  expect(read('{"event":"E","defaultProperties":{"b":2}}', of)).toMatchObject({ batchMembers: '"é":"x","a":1.0' });
  expect(read('{"event":"E","defaultProperties":{"é":2}}', of)).toBeUndefined();
});

test.each([
  ['no event', '{}'],
  ['an event that is no text', '{"event":1}'],
  ['an event with an escape', '{"event":"a\\tb"}'],
  ['a character escaped by its number', '{"event":"E","properties":{"a":"\\u0061"}}'],
  ['a key with an escape', '{"event":"E","properties":{"\\t":1}}'],
  ['a member that is said twice', '{"event":"E","event":"F"}'],
  ['a property that is said twice', '{"event":"E","properties":{"a":1,"b":{},"a":2}}'],
  ['a key that reaches a prototype', '{"event":"E","properties":{"__proto__":{}}}'],
  ['an exponent', '{"event":"E","properties":{"a":1e3}}'],
  ['properties under two names', '{"event":"E","properties":{},"eventProperties":{}}'],
  ['an event that is kept from a destination', '{"event":"E","integrations":{"All":true,"X":false}}'],
  ['properties of the visitor', '{"event":"E","userProperties":{}}'],
  ['an address in defaultProperties', '{"event":"E","defaultProperties":{"a":1,"ip":"9"}}'],
  ['objects that nest deep', `{"event":"E","properties":${'{"a":'.repeat(20)}1${'}'.repeat(20)}}`],
  [
    'more keys than are looked at',
    `{"event":"E","properties":{${Array.from({ length: 600 }, (_, key) => `"k${key}":1`).join()}}}`,
  ],
  ['something behind the body', '{"event":"E"} '],
])('readPlainEnvelope: leaves %s to be parsed', (_name, body) => {
  expect(read('{"event":"E"}')).toBeDefined();
  expect(read(body)).toBeUndefined();
});

test.each([
  ['an identify', envelopeHead(prefix, { kind: 'identify', id: 'e', at: 1 })],
  [
    'a batch that says more than defaultProperties for all',
    envelopeHead(prefix, {
      kind: 'track',
      id: 'e',
      at: 1,
      ctxJson: '{"defaultProperties":{"a":1},"custom_properties":{}}',
    }),
  ],
  [
    'a batch with an address in defaultProperties',
    envelopeHead(prefix, { kind: 'track', id: 'e', at: 1, ctxJson: '{"defaultProperties":{"ip":"9"}}' }),
  ],
  ['an id with an escape', envelopeHead(prefix, { kind: 'track', id: 'a\tb', at: 1 })],
  ['another version', envelopeHead(prefix.replace('1', '2'), { kind: 'track', id: 'e', at: 1 })],
  [
    'an account that is none',
    envelopeHead(envelopePrefix({ account: 'a b', source: 's', test: false }), { kind: 'track', id: 'e', at: 1 }),
  ],
])('readPlainEnvelope: leaves %s to be parsed, whatever its body', (_name, of) => {
  expect(read('{"event":"E"}', of)).toBeUndefined();
});

test('readPlainEnvelope: a line without a head is not read with the head of the previous line, whatever its length', () => {
  for (const characters of [10, 20_000]) {
    const ctxJson = JSON.stringify({ defaultProperties: { a: 'x'.repeat(characters) } });
    expect(read('{"event":"E"}', envelopeHead(prefix, { kind: 'track', id: 'e', at: 1, ctxJson }))).toBeDefined();
    expect(readLine(',"kind":"track","id":"e","body":{"event":"E"}}')).toBeUndefined();
  }
});

test('readPlainEnvelope: never accepts a line that is invalid JSON, wherever the line was cut or changed', () => {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const line = (body: string): string => envelopeLine(head, body);
  let none = 0;
  fc.assert(
    fc.property(bodyText, jsonText, fc.nat(), fc.nat(3), (body, other, at, removed) => {
      const cut = at % (body.length + 1);
      const changed = line(`${body.slice(0, cut)}${other}${body.slice(cut + removed)}`);
      for (const text of [line(body), changed, changed.slice(0, -1)]) {
        if (isJson(text)) continue;
        none += 1;
        expect(readLine(text)).toBeUndefined();
      }
    }),
    { numRuns: 2_000 },
  );
  expect(none).toBeGreaterThan(1_000);
});
