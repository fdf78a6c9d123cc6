import { expect, test } from 'vitest';
import { sampleHash } from '../../../shared/contracts/events/event-hash.ts';
import { parseResolved } from '../../../shared/contracts/events/resolved-event.ts';
import type { ResolvedEvent } from '../../../shared/contracts/events/resolved-event.ts';
import { sharedVisitorFrame } from '../../../shared/contracts/events/testing/shared-visitor-frame.ts';
import { createSamplingBuckets } from './sampling-bucket.ts';
import type { SamplingRate } from './sampling-bucket.ts';
import { sampleFrame } from './sample-frame.ts';
import { frameOfLines, resolvedEvent, resolvedFrame } from './testing/resolved.ts';

const subject = 'events.account-1.0';

function sample(events: readonly ResolvedEvent[], rate: SamplingRate) {
  const { data } = resolvedFrame(events);
  const frame = { subject, data, storedAtMs: 0 };
  const { lines, skipped } = sampleFrame(frame, createSamplingBuckets(rate));
  return { events: lines.map(({ line }) => parseResolved(line.read())), lines, skipped };
}

const many = (count: number, test = false): ResolvedEvent[] =>
  Array.from({ length: count }, (_, n) =>
    resolvedEvent('account-1', { id: `event-${n}`, test, event_properties: { text: 'ä\n💥' } }),
  );

test('sample frame: at a low rate every event is taken, unchanged', () => {
  const given = many(3);
  const { events, lines, skipped } = sample(given, { perSecondMax: 1, burstMax: 100 });
  expect(events).toEqual(given);
  expect(lines.map(({ sampleOf }) => sampleOf)).toEqual([1, 1, 1]);
  expect(skipped).toBe(0);
});

test('sample frame: in a flood it takes as many events as the bucket allows and counts the rest as skipped', () => {
  const { events, skipped } = sample(many(5_000), { perSecondMax: 10, burstMax: 100 });
  expect(events.length).toBeGreaterThan(50);
  expect(events.length).toBeLessThanOrEqual(100);
  expect(events.length + skipped).toBe(5_000);
});

test('sample frame: all test events are taken, even during a flood of live events', () => {
  const flood = many(2_000);
  const tests = many(5, true);
  const mixed = [...flood.slice(0, 1_500), ...tests, ...flood.slice(1_500)];
  const { events } = sample(mixed, { perSecondMax: 1, burstMax: 20 });
  expect(events.filter(({ event }) => event.test)).toEqual(tests);
});

test('sample frame: in a flood, events are chosen only by the hash of their ids, as are their outcomes', () => {
  const rate = { perSecondMax: 1, burstMax: 100 };
  const flood = many(5_000).map((one, n) =>
    n % 3 === 0 ? { ...one, visitor: { ...one.visitor, id: `"${n}"` } } : one,
  );
  const bucket = createSamplingBuckets(rate).of('x', 0);
  const wanted = flood.filter(({ event }) => bucket.take(() => sampleHash(event.id), 0) > 0);
  expect(sample(flood, rate).events.map(({ event }) => event.id)).toEqual(wanted.map(({ event }) => event.id));
});

test('sample frame: lines that cannot be parsed are sampled too, and an empty frame has no lines', () => {
  const data = frameOfLines(['{"a":1}', 'no json']);
  const buckets = createSamplingBuckets({ perSecondMax: 1, burstMax: 100 });
  expect(sampleFrame({ subject, data, storedAtMs: 0 }, buckets).lines.map(({ line }) => line.read())).toEqual([
    '{"a":1}',
    'no json',
  ]);
  expect(sampleFrame({ subject, data: new Uint8Array(), storedAtMs: 0 }, buckets)).toEqual({
    lines: [],
    skipped: 0,
  });
});

test('sample frame: an event with a large visitor counts as several events, even if the frame stores that visitor only once', () => {
  const rate = { perSecondMax: 1, burstMax: 100 };
  const visitor = { id: 'v', custom_properties: { text: 'x'.repeat(40_000) } };
  const large = many(200).map((event) => ({ ...event, visitor }));
  expect(sample(large, rate).events.length).toBeLessThan(20);
  const frame = { subject, data: sharedVisitorFrame(large), storedAtMs: 0 };
  const { lines, skipped } = sampleFrame(frame, createSamplingBuckets(rate));
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.length).toBeLessThan(20);
  expect(lines.length + skipped).toBe(200);
  expect(parseResolved(lines.at(-1)?.line.read() ?? '').visitor).toEqual(visitor);
});
