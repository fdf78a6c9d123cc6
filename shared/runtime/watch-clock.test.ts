import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { logJump, watchClock } from './watch-clock.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function setClock(byMs: number): void {
  vi.setSystemTime(Date.now() + byMs);
  vi.advanceTimersByTime(1_000);
}

test('watch clock: setting the clock is reported once, with the size and direction of the jump', () => {
  const jumps: number[] = [];
  const watch = watchClock((jumpMs) => jumps.push(jumpMs));
  vi.advanceTimersByTime(10_000);
  expect([watch.jumps, watch.lastJumpMs]).toEqual([0, 0]);
  setClock(-3_600_000);
  vi.advanceTimersByTime(10_000);
  setClock(2_000);
  watch.stop();
  setClock(5_000);
  expect(jumps).toEqual([-3_600_000, 2_000]);
  expect([watch.jumps, watch.lastJumpMs]).toEqual([2, 2_000]);
});

test('watch clock: corrections below the threshold are no jump', () => {
  const watch = watchClock(() => undefined);
  for (let turn = 0; turn < 5; turn += 1) setClock(turn % 2 === 0 ? 900 : -900);
  watch.stop();
  expect(watch.jumps).toBe(0);
});

test('watch clock: the log says in which direction the clock was set', () => {
  const lines: unknown[] = [];
  const tell = logJump({ warn: (fields, message) => lines.push([fields, message]) });
  tell(-3_600_000);
  tell(1_500);
  expect(lines).toEqual([
    [{ seconds: -3_600 }, 'the wall clock was set back'],
    [{ seconds: 1.5 }, 'the wall clock was set forward'],
  ]);
});
