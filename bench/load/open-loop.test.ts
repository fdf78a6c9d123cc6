import { expect, test } from 'vitest';
import { Arrivals } from './open-loop.ts';
import { LoadRecorder } from './load-recorder.ts';

const ratePerS = 100;
const serviceMs = 1;
const stall = { fromMs: 500, toMs: 1_500 };
const endMs = 3_000;

/** One connection to a server that answers in 1 ms, except for a second in which it stands still. */
function simulate(): { readonly corrected: LoadRecorder; readonly naive: LoadRecorder } {
  const arrivals = new Arrivals(ratePerS, 0);
  const corrected = new LoadRecorder(0);
  const naive = new LoadRecorder(0);
  let nowMs = 0;
  while (nowMs < endMs) {
    const dueMs = arrivals.take(nowMs);
    if (dueMs === undefined) {
      nowMs = arrivals.nextMs;
      continue;
    }
    const isStalled = nowMs >= stall.fromMs && nowMs < stall.toMs;
    const answeredMs = (isStalled ? stall.toMs : nowMs) + serviceMs;
    corrected.record(200, answeredMs - dueMs);
    naive.record(200, answeredMs - nowMs);
    nowMs = answeredMs;
  }
  return { corrected, naive };
}

test('arrivals: requests become due at a constant rate, and each is taken once and in order', () => {
  const arrivals = new Arrivals(1_000, 10);
  expect([arrivals.take(9.9), arrivals.take(10), arrivals.take(10.5)]).toEqual([undefined, 10, undefined]);
  expect([arrivals.take(13), arrivals.take(13), arrivals.take(13), arrivals.take(13)]).toEqual([11, 12, 13, undefined]);
});

test('arrivals: requests due before a time are skipped, and no others', () => {
  const arrivals = new Arrivals(1_000, 10);
  expect([arrivals.skip(9), arrivals.skip(10), arrivals.take(10)]).toEqual([0, 0, 10]);
  expect([arrivals.skip(13.5), arrivals.nextMs, arrivals.skip(13.5)]).toEqual([3, 14, 0]);
});

test('arrivals: requests that become due while a server stands still count as waiting from their due times', () => {
  const { corrected, naive } = simulate();
  expect(corrected.answers).toBe(naive.answers);
  // The server stood still for a third of the time, so far more than 1 % of the requests waited long.
  expect(corrected.percentiles().p90).toBeGreaterThan(500);
  expect(corrected.percentiles().max).toBeGreaterThan(990);
  // If latency counts from the time of sending, only the request sent during the standstill waited long.
  expect(naive.percentiles().p99).toBeLessThan(2);
});
