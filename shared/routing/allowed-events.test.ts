import { expect, test } from 'vitest';
import { compileAllowedEvents } from './allowed-events.ts';

const published = [
  { id: 'a', name: 'Sign Up', destinationIds: ['d1', 'd2'] },
  { id: 'b', name: 'Purchase', destinationIds: [] },
  { id: 'c', name: 'purchase', destinationIds: ['d2'] },
];

test.each([
  ['Sign Up', 'd1', true],
  ['SIGN up', 'd1', true],
  ['Sign Up ', 'd1', false],
  ['Sign Up', 'd3', false],
  ['Purchase', 'd1', false],
  ['Purchase', 'd2', true],
  ['Unknown', 'd1', false],
  ['', 'd1', false],
  ['$identify', 'd1', true],
  ['$experiment_impression', 'd3', true],
])('allowed events: event %s may go to destination %s: %s', (name, destinationId, expected) => {
  expect(compileAllowedEvents(published, true, destinationId)(name)).toBe(expected);
});

test('allowed events: without a published entry, every event may go to every destination', () => {
  expect(compileAllowedEvents([], false, 'd1')('Anything')).toBe(true);
  expect(compileAllowedEvents([], false)('Anything')).toBe(true);
});

test('allowed events: if all published entries are unreadable, only Sluice’s own events are allowed', () => {
  expect(compileAllowedEvents([], true, 'd1')('x')).toBe(false);
  expect(compileAllowedEvents([], true)('undefined')).toBe(false);
  expect(compileAllowedEvents([], true)('$identify')).toBe(true);
});

test('allowed events: a listed name passes, whether or not a destination receives it', () => {
  const isAllowed = compileAllowedEvents(published, true);
  expect(['sign UP', 'PURCHASE', 'Unknown', '$identify'].map(isAllowed)).toEqual([true, true, false, true]);
});
