import { expect, test } from 'vitest';
import { SinkCounts } from './sink-counts.ts';

const event = (sentAt: number): string => JSON.stringify({ event: { event_properties: { sent_at: sentAt, x: 1 } } });

test('sink: counts every event of a batch, by the first part of the path', () => {
  const counts = new SinkCounts();
  counts.count('/good/1', Buffer.from(`[${event(1_000.5)},${event(1_002.5)}]`), 1_010.5);
  counts.count('/good/2', Buffer.from(event(1_000)), 1_030);
  counts.count('/slow/1', Buffer.from('{}'), 1_000);
  const { groups } = counts.take(2_000);
  expect(groups['good']).toMatchObject({ requests: 2, events: 3, paths: 2 });
  expect(groups['good']?.latencyMs.p50).toBeCloseTo(10, 1);
  expect(groups['good']?.latencyMs.max).toBeCloseTo(30, 0);
  expect(groups['slow']).toMatchObject({ requests: 1, events: 0 });
});

test('sink: latencies restart when they are read, overall latencies only when they are reset', () => {
  const counts = new SinkCounts();
  counts.count('/good/1', Buffer.from(event(1_000)), 1_030);
  counts.take(1_100);
  counts.count('/good/1', Buffer.from(event(1_000)), 1_010);
  const later = counts.take(1_200).groups['good'];
  expect(later?.latencyMs.max).toBeCloseTo(10, 0);
  expect(later?.overallMs.max).toBeCloseTo(30, 0);
  counts.forget();
  expect(counts.take(1_300).groups['good']).toMatchObject({ events: 2, paths: 0, overallMs: { max: Number.NaN } });
});
