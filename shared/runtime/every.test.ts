import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { every } from './every.ts';
import type { Periodic } from './every.ts';

let started: Periodic[] = [];
const begin = (...given: Parameters<typeof every>): Periodic => {
  const periodic = every(...given);
  started.push(periodic);
  return periodic;
};

beforeEach(() => void vi.useFakeTimers());
afterEach(async () => {
  await Promise.all(started.map((periodic) => periodic.stop()));
  started = [];
  vi.useRealTimers();
});

test('every: each task keeps its own period, and all tasks share one timer', () => {
  const turns = { half: 0, one: 0, three: 0 };
  begin(500, () => void (turns.half += 1));
  begin(1_000, () => void (turns.one += 1));
  begin(3_333, () => void (turns.three += 1));
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(30_500);
  // A task that begins while ticks run has its first turn a tick later; 3,333 ms are rounded down to six ticks.
  expect(turns).toEqual({ half: 61, one: 30, three: 10 });
});

test('every: a first turn is not early, however near the next tick is', () => {
  begin(500, () => undefined);
  vi.advanceTimersByTime(499);
  let turns = 0;
  begin(1_000, () => void (turns += 1));
  vi.advanceTimersByTime(999);
  expect(turns).toBe(0);
  vi.advanceTimersByTime(2);
  expect(turns).toBe(1);
});

test('every: a period shorter than a tick has a timer of its own', () => {
  let turns = 0;
  begin(20, () => void (turns += 1));
  vi.advanceTimersByTime(200);
  expect(turns).toBe(10);
});

test.each([20, 1_000])('every: turns are skipped while one is running, at %d ms', async (periodMs) => {
  let turns = 0;
  let end = (): void => undefined;
  const periodic = begin(periodMs, () => {
    turns += 1;
    return new Promise<void>((resolve) => {
      end = resolve;
    });
  });
  vi.advanceTimersByTime(periodMs * 5);
  expect(turns).toBe(1);
  end();
  await vi.advanceTimersByTimeAsync(periodMs);
  expect(turns).toBe(2);
  let isStopped = false;
  const stopped = periodic.stop().then(() => (isStopped = true));
  await vi.advanceTimersByTimeAsync(periodMs * 5);
  expect([turns, isStopped]).toEqual([2, false]);
  end();
  await stopped;
  await vi.advanceTimersByTimeAsync(periodMs * 5);
  expect(turns).toBe(2);
});

// The test never awaits: while it waited, other code in this process could set timers.
test.each([20, 1_000])('every: a stopped task leaves no timer, with a period of %d ms', (periodMs) => {
  const periodic = begin(periodMs, () => undefined);
  expect(vi.getTimerCount()).toBe(1);
  void periodic.stop();
  expect(vi.getTimerCount()).toBe(0);
});

test('every: a task with atOnce has its first turn now and later turns by its period', () => {
  let turns = 0;
  begin(1_000, () => void (turns += 1), { atOnce: true });
  expect(turns).toBe(1);
  vi.advanceTimersByTime(2_000);
  expect(turns).toBe(3);
});

test('every: a task that another task stops in the same tick has no further turn', () => {
  let turns = 0;
  const first = begin(500, () => void second.stop());
  const second = begin(500, () => void (turns += 1));
  vi.advanceTimersByTime(2_000);
  expect(turns).toBe(0);
  void first.stop();
  expect(vi.getTimerCount()).toBe(0);
});
