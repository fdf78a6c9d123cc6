import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { RoundPace } from './round-pace.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A thread of which the test says what it does in the seconds that follow. */
function open(settings = { roundMs: 5, roundCrowdedMs: 25 }) {
  const use = { ranMs: 1_000, waitedMs: 50_000 };
  const pace = new RoundPace(settings, () => ({ ...use }));
  const goOn = async (seconds: number, ranMs: number, waitedMs: number): Promise<number> => {
    for (let halves = 0; halves < 2 * seconds; halves += 1) {
      use.ranMs += ranMs / 2;
      use.waitedMs += waitedMs / 2;
      await vi.advanceTimersByTimeAsync(500);
    }
    return pace.roundMs;
  };
  return { pace, goOn };
}

test('round pace: rounds are longer where the thread waits for a processor, and as before where it does not any more', async () => {
  const { pace, goOn } = open();
  expect(pace.roundMs).toBe(5);
  expect(await goOn(10, 200, 100)).toBe(5);
  const some = await goOn(10, 200, 220);
  expect(some).toBeGreaterThan(8);
  expect(some).toBeLessThan(22);
  expect(await goOn(10, 200, 600)).toBe(25);
  expect(await goOn(10, 200, 10)).toBe(5);
  await pace.stop();
});

test('round pace: one look is not enough', async () => {
  const { pace, goOn } = open();
  expect(await goOn(0.5, 20, 480)).toBe(5);
  await pace.stop();
});

test('round pace: a thread that hardly runs is not in a crowd', async () => {
  const { pace, goOn } = open();
  expect(await goOn(20, 8, 500)).toBe(5);
  await pace.stop();
});

test('round pace: a crowd makes rounds no shorter than they are to be', async () => {
  const { pace, goOn } = open({ roundMs: 40, roundCrowdedMs: 25 });
  expect(await goOn(20, 200, 600)).toBe(40);
  await pace.stop();
});
