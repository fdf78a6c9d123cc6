import { expect, test } from 'vitest';
import {
  LoadRecorder,
  createLatencies,
  decodeLatencies,
  encodeLatencies,
  percentilesOf,
  recordMs,
} from './load-recorder.ts';

test('load recorder: windows have the rate and percentiles of their own second', () => {
  const recorder = new LoadRecorder(0);
  for (let i = 0; i < 10; i += 1) recorder.record(200, 5);
  recorder.closeWindow(1_000);
  for (let i = 0; i < 30; i += 1) recorder.record(503, 50);
  recorder.closeWindow(2_000);
  recorder.record(200, 5);
  recorder.closeWindow(3_000);
  expect(recorder.windows.map(({ atS, perSecond, acceptedPerS }) => [atS, perSecond, acceptedPerS])).toEqual([
    [1, 10, 10],
    [2, 30, 0],
    [3, 1, 1],
  ]);
  expect(recorder.windows[0]?.max).toBeCloseTo(5, 1);
  expect(recorder.windows[1]?.p50).toBeCloseTo(50, 0);
  expect(Object.fromEntries(recorder.byStatus)).toEqual({ 200: 11, 503: 30 });
});

test('load recorder: an incomplete second makes no window', () => {
  const recorder = new LoadRecorder(0);
  recorder.record(200, 1);
  expect(recorder.closeWindow(100)).toBeUndefined();
  expect(recorder.windows).toEqual([]);
});

test('load recorder: without requests there is no percentile', () => {
  expect(new LoadRecorder(0).percentiles().p99).toBeNaN();
});

test('load recorder: no percentile is above the slowest request', () => {
  const recorder = new LoadRecorder(0);
  for (let ms = 400; ms < 500; ms += 0.37) recorder.record(200, ms);
  const { p99, p999, max } = recorder.percentiles();
  expect(p999).toBeLessThanOrEqual(max);
  expect(p99).toBeLessThanOrEqual(p999);
});

test('load recorder: an answer after the end counts in the percentiles, not in the rate', () => {
  const recorder = new LoadRecorder(0);
  recorder.record(200, 1);
  recorder.recordLate(503, 900);
  expect(recorder.answers).toBe(1);
  expect(recorder.closeWindow(1_000)).toMatchObject({ perSecond: 1, max: 1 });
  expect(recorder.percentiles().max).toBeGreaterThan(890);
  expect(Object.fromEntries(recorder.byStatus)).toEqual({ 200: 1, 503: 1 });
});

test('latencies: all measured requests are in the histogram that another process receives', () => {
  const latencies = createLatencies();
  for (let ms = 1; ms <= 90; ms += 1) recordMs(latencies, ms);
  for (let ms = 991; ms <= 1_000; ms += 1) recordMs(latencies, ms);
  const { p50, p90, p99, max } = percentilesOf(decodeLatencies(encodeLatencies(latencies)));
  expect([p50, p90, p99, max].map(Math.round)).toEqual([50, 90, 999, 1_000]);
});
