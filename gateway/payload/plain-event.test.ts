import fc from 'fast-check';
import sjson from 'secure-json-parse';
import { expect, test } from 'vitest';
import { batchRow, trackPayload } from './payloads.ts';
import { PlainEvent, readPlainEvent } from './scan-body.ts';
import { payloadFieldRows } from '../../shared/contracts/ingest/payload-fields.ts';
import { JsonFacts } from '../../shared/json/scan-json.ts';

const event = new PlainEvent();
const facts = new JsonFacts();

function read(text: string) {
  const bytes = Buffer.from(text);
  const isPlain = readPlainEvent(event, facts, bytes, 0);
  return { isPlain, bytes, fields: isPlain ? event.fields(bytes, facts) : undefined };
}

/** The names of all fields of an event, from the table, so that new fields are tested as well. */
const names = payloadFieldRows.filter(({ track, row }) => (track ?? row) !== undefined).map(({ name }) => name);
const moreNames = ['__proto__', 'other'];
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', 'x'.repeat(400), 'x'.repeat(401), 'a\n"\\/'),
);
const value = fc.oneof(
  text,
  fc.constantFrom(null, true, false, 0, -0.5, 1e21, 1_763_700_000_000, 1_234_567_890_123_456),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.dictionary(
    fc.oneof(text, fc.constantFrom('constructor', 'prototype', 'content_ids')),
    fc.jsonValue({ maxDepth: 3 }),
  ),
  fc.jsonValue({ maxDepth: 3 }),
);
const space = fc.constantFrom('', '', ' ', '\n', '\r\n\t');

/** An event as JSON: mostly with known fields, some of them duplicated, some with a value of the wrong type. */
const written = fc
  .record({
    name: fc.oneof({ weight: 4, arbitrary: fc.constant('"event":"x"') }, { weight: 1, arbitrary: fc.constant('') }),
    members: fc.array(fc.tuple(fc.oneof(fc.constantFrom(...names, ...moreNames), text), value, space, space), {
      maxLength: 5,
    }),
  })
  .map(({ name, members }) => {
    const others = members.map(([key, item, a, b]) => `${a}${JSON.stringify(key)}${b}:${a}${JSON.stringify(item)}${b}`);
    return `{${[name, ...others].filter((member) => member !== '').join(',')}}`;
  });

/** `written` with a few characters changed: nearly JSON. */
const damaged = fc
  .record({
    json: written,
    changes: fc.array(
      fc.record({
        at: fc.nat(),
        removed: fc.nat(2),
        put: fc.constantFrom(
          '',
          '"',
          '\\',
          '\\u0041',
          '{',
          '}',
          '[',
          ']',
          ',',
          ':',
          '0',
          '-',
          '.',
          'e',
          '\0',
          '\v',
          'é',
          'null',
        ),
      }),
      { maxLength: 3 },
    ),
  })
  .map(({ json, changes }) =>
    changes.reduce((now, { at, removed, put }) => {
      const index = at % (now.length + 1);
      return now.slice(0, index) + put + now.slice(index + removed);
    }, json),
  );

test.each(names)('plain event: %s is checked by its rule, and what is called plain has it', (name) => {
  const bodies = [5, true, [], {}, 'x'.repeat(2_000)].map((value) => ({ event: 'x', distinctId: 'x', [name]: value }));
  const refused = bodies.filter((body) => !trackPayload.Check({ token: 'x', ...body }) || !batchRow.Check(body));
  expect(refused.filter((body) => read(JSON.stringify(body)).isPlain)).toEqual([]);
});

const depthOf = (node: unknown): number =>
  typeof node === 'object' && node !== null ? 1 + Math.max(0, ...Object.values(node).map(depthOf)) : 0;

test('plain event: an event read as plain is JSON that passes the checks, with the same fields as JSON.parse finds', () => {
  fc.assert(
    fc.property(fc.oneof(written, damaged), (json) => {
      const { isPlain, bytes, fields } = read(json);
      if (!isPlain) return;
      const parsed = JSON.parse(bytes.toString('utf8', 0, event.end)) as Record<string, unknown>;
      expect(parsed).toEqual(JSON.parse(Buffer.from(json).toString('utf8', 0, event.end)));
      expect(trackPayload.Check({ token: 'x', ...parsed })).toBe(true);
      expect(batchRow.Check({ distinctId: 'x', ...parsed })).toBe(true);
      expect(() => sjson.scan(parsed, { protoAction: 'error', constructorAction: 'error' })).not.toThrow();
      for (const name of ['token', 'userId', 'externalId', 'email', 'distinctId', 'time'] as const) {
        expect(fields?.[name]).toBe(parsed[name] ?? undefined);
      }
      // If a key is duplicated, JSON.parse keeps only the last value, which may nest less deep than the others.
      expect(facts.depth).toBeGreaterThanOrEqual(depthOf(parsed));
      expect(facts.bits < 0x80).toBe(bytes.subarray(0, event.end).every((byte) => byte < 0x80));
      expect(bytes.subarray(0, event.end).includes('\n')).toBe(false);
    }),
    { numRuns: 3_000 },
  );
});

test('plain event: keys are counted on all levels', () => {
  const { isPlain } = read('{"event":"a","properties":{"b":[{"c":1},{"c":2}],"d":{}}}');
  expect({ isPlain, keys: facts.keys, depth: facts.depth }).toEqual({ isPlain: true, keys: 6, depth: 4 });
});

test.each([
  [
    'an event of a shop',
    '{"event":"Paid","externalId":"c-1","properties":{"price":249.5,"tags":["a","b"],"new":true}}',
  ],
  ['one with white space', ' {"event" : "Paid",\n "time":1763700000000,\r\n "properties": null }'.trim()],
  ['one with simple escapes in its values', '{"event":"Paid","properties":{"text":"a \\"b\\" \\\\ \\n"}}'],
  ['one that is not ASCII', '{"event":"Bezahlt","properties":{"city":"Köln"}}'],
  ['one with numbers of every form', '{"event":"n","properties":{"n":[0,-0,10,1.50,1e5,1E+5,-1.5e-5]}}'],
])('plain event: %s is plain', (_name, json) => {
  expect(read(json).isPlain).toBe(true);
});

test.each([
  ['no object', '["event"]'],
  ['cut short', '{"event":"a","properties":{"b":"c"'],
  ['a comma too many', '{"event":"a",}'],
  ['a comma too many in an array', '{"event":"a","x":[1,]}'],
  ['brackets that do not match', '{"event":"a","x":[1}'],
  ['a number with a leading zero', '{"event":"a","x":01}'],
  ['a control character in a string', '{"event":"a\tb"}'],
  ['white space JSON does not know', '{"event":"a",\v"x":1}'],
  ['a known field twice', '{"event":"a","userId":"b","userId":"c"}'],
  ['a known field of another kind', '{"event":"a","userId":1}'],
  ['an array for an object', '{"event":"a","properties":[]}'],
  ['a text that is too long', `{"event":"a","userId":"${'x'.repeat(401)}"}`],
  ['an empty text', '{"event":"a","userId":""}'],
  ['no event', '{"userId":"a"}'],
  ['an escape by number', '{"event":"a","x":"\\u0000"}'],
  ['an escape in a key', '{"event":"a","\\u005f_proto__":1}'],
  ['a key that reaches a prototype', '{"event":"a","x":{"__proto__":{}}}'],
  ['a time that is no whole number', '{"event":"a","time":1.5}'],
  ['visitor properties, which have rules of their own', '{"event":"a","userProperties":{"email":1}}'],
  ['nesting without end', `{"event":"a","x":${'['.repeat(60)}${']'.repeat(60)}}`],
])('plain event: %s is not plain', (_name, json) => {
  expect(read(json).isPlain).toBe(false);
});
