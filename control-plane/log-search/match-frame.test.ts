import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compressFrame } from '../../shared/contracts/events/compressed-frame.ts';
import { FrameWriter } from '../../shared/contracts/events/frame.ts';
import { encodeResolved } from '../../shared/contracts/events/resolved-event.ts';
import { parseExact } from '../../shared/json/exact-numbers.ts';
import type { JsonObject } from '../../shared/runtime/json.ts';
import { sampleEvent } from '../../shared/destinations/sdk/sample-event.ts';
import { matchFrame } from './match-frame.ts';

const frameOf = (properties: readonly Readonly<Record<string, unknown>>[]): Uint8Array => {
  const writer = new FrameWriter();
  for (const [index, own] of properties.entries()) {
    writer.appendLine(encodeResolved(sampleEvent({ id: `e${index}`, event_properties: own })));
  }
  return writer.bytes();
};
const idsOf = (...given: Parameters<typeof matchFrame>) => matchFrame(...given).map(({ event }) => event.event.id);

test('log search: a frame is searched by event, by visitor, and by a property that is text, a number or a boolean', () => {
  const frame = compressFrame(frameOf([{ order: 'A-1' }, { order: 1 }, { cart: { order: 'A-1' } }, { order: true }]));
  expect(idsOf(frame, { by: 'event', id: 'e2' })).toEqual(['e2']);
  expect(idsOf(frame, { by: 'visitor', ids: ['nobody', 'sample-visitor'] })).toHaveLength(4);
  expect(idsOf(frame, { by: 'property', path: ['order'], value: 'A-1' })).toEqual(['e0']);
  expect(idsOf(frame, { by: 'property', path: ['cart', 'order'], value: 'A-1' })).toEqual(['e2']);
  expect(idsOf(frame, { by: 'property', path: ['order'], value: '1' })).toEqual(['e1']);
  expect(idsOf(frame, { by: 'property', path: ['order'], value: 'true' })).toEqual(['e3']);
  expect(idsOf(Buffer.from('no frame'), { by: 'event', id: 'e2' })).toEqual([]);
});

test('log search: a number is found as it was sent', () => {
  const own = parseExact('{"order": 23851234567890123, "cart": {"price": 1.0}}') as JsonObject;
  const frame = frameOf([own, { order: 7 }]);
  expect(idsOf(frame, { by: 'property', path: ['order'], value: '23851234567890123' })).toEqual(['e0']);
  expect(idsOf(frame, { by: 'property', path: ['cart', 'price'], value: '1.0' })).toEqual(['e0']);
  expect(idsOf(frame, { by: 'property', path: ['cart', 'price'], value: '1' })).toEqual(['e0']);
});

test('log search: property: an event is found by the text of its property, whatever the text is', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (value) => {
      const own = { order: value };
      expect(idsOf(frameOf([own]), { by: 'property', path: ['order'], value })).toEqual(['e0']);
    }),
  );
});
