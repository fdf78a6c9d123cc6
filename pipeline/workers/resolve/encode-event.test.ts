import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Envelope } from '../../../shared/contracts/events/envelope.ts';
import { parseResolved, resolvedLine } from '../../../shared/contracts/events/resolved-event.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import { ByteWriter } from '../../../shared/json/byte-writer.ts';
import { VisitorProperties } from '../../../shared/visitors/visitor-properties.ts';
import { encodeEvent, encodeVisitor } from './encode-event.ts';
import type { JsonParts } from './read-event.ts';

const envelope: Envelope = {
  v: 1,
  kind: 'track',
  id: 'e',
  account: 'a',
  source: 's',
  at: 9,
  test: true,
  trace: '00-1',
  body: {},
};

const lineOf = (json: string, id: string, properties: VisitorProperties): string =>
  resolvedLine(id, json, encodeVisitor(id, properties));

function encode(properties: JsonObject, context: JsonObject): string {
  const parts = (value: JsonObject): JsonParts => {
    // The copied range includes all bytes except the first and the last.
    const [json, frame] = [JSON.stringify(value), Buffer.from(`before${JSON.stringify(value)}behind`)];
    const taken = { bytes: frame, start: 7, end: frame.length - 7 };
    return { before: json.slice(0, 1), taken, behind: json.slice(-1) };
  };
  const writer = new ByteWriter(16);
  const event = { name: 'E "quoted"', timeMs: 8, properties: parts(properties), context: parts(context) };
  encodeEvent(writer, envelope, event, 3);
  const { bytes, start, end } = writer.stretchOf({ start: 0, end: writer.length });
  return bytes.toString('utf8', start, end);
}

const names = fc.oneof(fc.string(), fc.constantFrom('id', 'custom_properties'));
const object = fc.dictionary(names, fc.oneof(fc.string(), fc.integer(), fc.boolean()), { noNullPrototype: true });
const visitor = fc
  .record({ rest: object, custom: fc.option(object, { nil: undefined }) })
  .map(({ rest, custom }): JsonObject => {
    const { custom_properties: _, ...properties } = rest;
    return custom === undefined ? properties : { ...properties, custom_properties: custom };
  });

test('resolved lines: encodeVisitor: a written line reads back as the same event and visitor, whatever they contain', () => {
  fc.assert(
    fc.property(object, object, visitor, fc.string(), (properties, context, of, id) => {
      const text = lineOf(encode(properties, context), id, new VisitorProperties(of));
      expect(parseResolved(text)).toEqual({
        v: 1,
        event: {
          id: 'e',
          event: 'E "quoted"',
          time: 8,
          received_at: 9,
          source_id: 's',
          account_id: 'a',
          test: true,
          event_properties: properties,
          context,
          trace: '00-1',
          version_number: 3,
        },
        visitor: { custom_properties: {}, ...of, id },
      });
    }),
  );
});

test('resolved lines: encodeVisitor: properties given as JSON text with the spaces that PostgreSQL puts in are read back', () => {
  const properties = new VisitorProperties({ city: 'Oslo' }, '{"city": "Oslo"}');
  expect(parseResolved(lineOf(encode({}, {}), 'v', properties)).visitor).toEqual({
    id: 'v',
    city: 'Oslo',
    custom_properties: {},
  });
});
