import { expect, test } from 'vitest';
import { encodeResolved } from '../../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../../shared/contracts/events/resolved-event.ts';
import { readRecentEvent } from './recent-event.ts';
import { resolvedEvent } from './testing/resolved.ts';

const sampledLine = (text: string) => ({ line: { bytes: text.length, read: () => text }, sampleOf: 1 });
const read = (event: ResolvedEvent, bytesMax = 16_384) => readRecentEvent(sampledLine(encodeResolved(event)), bytesMax);
const bodyOf = (event: ResolvedEvent, bytesMax?: number): unknown => JSON.parse(read(event, bytesMax)?.body ?? '');

test('recent event: contains the data of the event and its visitor', () => {
  const event = resolvedEvent('account-1', {
    id: 'e1',
    trace: '00-a-b-01',
    version_number: 7,
    integrations: { Mixpanel: false },
  });
  expect(read(event)).toMatchObject({
    id: 'e1',
    name: 'Signup',
    visitorId: 'visitor-1',
    test: false,
    versionNumber: 7,
  });
  expect(bodyOf(event)).toEqual({
    event_properties: { plan: 'free' },
    context: { ip: '198.51.100.7' },
    visitor: { id: 'visitor-1', custom_properties: {} },
    trace: '00-a-b-01',
    integrations: { Mixpanel: false },
  });
});

test('recent event: text that PostgreSQL cannot store is removed or replaced', () => {
  const event = resolvedEvent('account-1', { id: 'a\0b', event: '\ud800x', event_properties: { 'k\0': 'v\0' } });
  expect(read(event)).toMatchObject({ id: 'ab', name: '\ufffdx' });
  expect(bodyOf(event)).toMatchObject({ event_properties: { k: 'v' } });
});

test('recent event: if the visitor is too large, only its identity is kept; if the event is too large, only the visitor’s identity is', () => {
  const visitor = { id: 'v', email: 'a@example.com', custom_properties: { text: 'x'.repeat(3_000) } };
  expect(bodyOf(resolvedEvent('a', { visitor }), 2_000)).toEqual({
    event_properties: { plan: 'free' },
    context: { ip: '198.51.100.7' },
    visitor: { id: 'v', email: 'a@example.com' },
    truncated: true,
  });
  const large = resolvedEvent('a', { visitor, event_properties: { text: 'x'.repeat(3_000) } });
  expect(bodyOf(large, 2_000)).toEqual({
    event_properties: {},
    context: {},
    visitor: { id: 'v', email: 'a@example.com' },
    truncated: true,
  });
  const identity = resolvedEvent('a', { visitor: { ...visitor, email: 'x'.repeat(3_000) } });
  expect(bodyOf(identity, 2_000)).toEqual({ event_properties: {}, context: {}, visitor: { id: 'v' }, truncated: true });
});

test.each([
  ['no JSON', 'nothing'],
  ['another version', '{"v":2,"event":{},"visitor":{}}'],
  ['no event', '{"v":1,"visitor":{"id":"v"}}'],
  ['no id', '{"v":1,"event":{"event":"x","time":1,"received_at":1},"visitor":{"id":"v"}}'],
  ['a time that is none', '{"v":1,"event":{"id":"e","event":"x","time":1e300,"received_at":1},"visitor":{"id":"v"}}'],
])('recent event: %s is not read', (_case, text) => {
  expect(readRecentEvent(sampledLine(text), 1_000)).toBeUndefined();
});
