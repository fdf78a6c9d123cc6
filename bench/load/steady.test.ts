import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isSteady, warmUp } from './steady.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([
  [[], false],
  [[100, 100, 100], false],
  [[100, 200, 400, 800], false],
  [[100, 110, 101, 108], true],
  [[10, 20, 1_000, 1_010, 1_005, 990], true],
  [[0, 0, 0, 0], false],
  [[100, 100, 40, 40], false],
])('steady: %j is %s', (perS, expected) => {
  expect(isSteady(perS)).toBe(expected);
});

/** Returns a counter that grows by `perS` events per second; `perS` depends on the time passed in ms. */
function countOf(perS: (passedMs: number) => number): () => number {
  const startedMs = performance.now();
  let counted = 0;
  let lastMs = startedMs;
  return () => {
    const nowMs = performance.now();
    counted += (perS(nowMs - startedMs) * (nowMs - lastMs)) / 1000;
    lastMs = nowMs;
    return counted;
  };
}

async function run(bounds: Parameters<typeof warmUp>[0], perS: (passedMs: number) => number) {
  const warming = warmUp(bounds, countOf(perS));
  // Advances by a duration instead of running all timers, because other timers of the process might never end.
  await vi.advanceTimersByTimeAsync(30_000);
  return warming;
}

test('warm-up: ends when the rate is steady, and not before its minimum', async () => {
  const climbing = await run({ warmUpMs: 1_000, warmUpMaxMs: 20_000 }, (passedMs) => Math.min(5_000, passedMs));
  expect(climbing.isSteady).toBe(true);
  expect(climbing.tookMs).toBeGreaterThan(5_000);
  expect(climbing.tookMs).toBeLessThan(8_000);
  const constant = await run({ warmUpMs: 3_000, warmUpMaxMs: 20_000 }, () => 100);
  expect(constant.tookMs).toBeGreaterThanOrEqual(3_000);
  expect(constant.tookMs).toBeLessThan(4_000);
});

test('warm-up: ends at its maximum if the rate never becomes steady, and says so', async () => {
  const warmed = await run({ warmUpMs: 1_000, warmUpMaxMs: 4_000 }, (passedMs) => passedMs ** 2);
  expect(warmed).toEqual({ tookMs: 4_000, isSteady: false });
});

test('warm-up: without a maximum, lasts for its minimum', async () => {
  expect((await run({ warmUpMs: 1_500 }, (passedMs) => passedMs)).tookMs).toBe(1_500);
});
