import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { CrowdPace } from './crowd-pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** The pace of a thread whose use of processors is set by the test. */
function open(settings = { usualMs: 5, crowdedMs: 25 }) {
  const use = { ranMs: 1_000, waitedMs: 50_000 };
  const pace = new CrowdPace(settings, () => ({ ...use }));
  const now = (): number => pace.msAt(performance.now());
  /** Lets time pass in which the thread runs and waits this many ms per second. Reads the interval every 100 ms. */
  const goOn = async (seconds: number, ranMs: number, waitedMs: number): Promise<number> => {
    for (let tenths = 0; tenths < 10 * seconds; tenths += 1) {
      use.ranMs += ranMs / 10;
      use.waitedMs += waitedMs / 10;
      await vi.advanceTimersByTimeAsync(100);
      now();
    }
    return now();
  };
  return { use, now, goOn };
}

test('crowd pace: the interval grows while the thread waits for a processor, and returns to the usual one afterwards', async () => {
  const { now, goOn } = open();
  expect(now()).toBe(5);
  expect(await goOn(10, 200, 100)).toBe(5);
  const some = await goOn(10, 200, 220);
  expect(some).toBeGreaterThan(8);
  expect(some).toBeLessThan(22);
  expect(await goOn(10, 200, 600)).toBe(25);
  expect(await goOn(10, 200, 10)).toBe(5);
});

test('crowd pace: half a second of waiting changes nothing', async () => {
  const { goOn } = open();
  expect(await goOn(0.5, 20, 980)).toBe(5);
});

test('crowd pace: a thread that hardly runs is not considered crowded', async () => {
  const { goOn } = open();
  expect(await goOn(20, 8, 500)).toBe(5);
});

test('crowd pace: after a long time without a reading, the pace starts from its usual value', async () => {
  const { use, now, goOn } = open();
  expect(await goOn(10, 200, 600)).toBe(25);
  await vi.advanceTimersByTimeAsync(60_000);
  use.ranMs += 500;
  const after = now();
  expect(after).toBeLessThan(25);
  expect(await goOn(10, 200, 100)).toBe(5);
});

test('crowd pace: waiting for a processor never shortens the interval below the usual one', async () => {
  const { goOn } = open({ usualMs: 40, crowdedMs: 25 });
  expect(await goOn(20, 200, 600)).toBe(40);
});
