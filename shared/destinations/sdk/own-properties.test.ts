import { expect, test } from 'vitest';
import { sentEvent } from './event.ts';
import { ownProperties } from './own-properties.ts';
import { sampleEvent } from './sample-event.ts';

const ownOf = (event_properties: Readonly<Record<string, unknown>>): unknown =>
  ownProperties(sentEvent({ resolved: sampleEvent({ event_properties }) }), new Set(['status']));

test('own properties: properties that no other field carries, as plain values and lists of plain values', () => {
  expect(ownOf({ score: 7, level: 'hard', won: true, tags: ['a', { b: 1 }, 2], nested: { a: 1 }, none: null })).toEqual(
    {
      score: 7,
      level: 'hard',
      won: true,
      tags: ['a', 2],
    },
  );
  expect(ownOf({ status: 'x', value: 3, products: [{}], event_id: 'e', $set: 'y' })).toEqual({});
});

test.each([
  ['email', 'a'],
  ['customerEmail', 'a'],
  ['phone_number', 'a'],
  ['first_name', 'a'],
  ['lastName', 'a'],
  ['billing_address', 'a'],
  ['date_of_birth', 'a'],
  ['user_id', 'a'],
  ['note', 'write to ann@example.com'],
  ['contact', '+1 (555) 123-4567'],
  ['list', ['ann@example.com']],
])('own properties: a property %s with %j may name a person and is left out', (name, value) => {
  expect(ownOf({ [name]: value })).toEqual({});
});
