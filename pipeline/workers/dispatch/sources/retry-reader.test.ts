import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createDueTimes } from './retry-reader.ts';

const hourMs = 3_600_000;

test('due times: with a steady clock, a frame is due at its time', () => {
  const times = createDueTimes(5_000);
  expect(times.dueAtMs(101_000, { wallMs: 100_000, monotonicMs: 7 })).toBe(1_007);
  expect(times.dueAtMs(99_000, { wallMs: 100_000, monotonicMs: 7 })).toBe(7);
});

test('due times: after the clock was set back an hour, frames are due within their tier’s delay and keep their intervals', () => {
  const times = createDueTimes(5_000);
  const wallMs = 100_000;
  const due = [1_000, 1_500, 3_000].map((afterMs, index) =>
    times.dueAtMs(wallMs + hourMs + afterMs, { wallMs, monotonicMs: 10 * index }),
  );
  expect(due).toEqual([5_000, 5_010, 5_020]);
  // Computed after the first frame was due, as a reader does it.
  expect(times.dueAtMs(wallMs + hourMs + 4_000, { wallMs: wallMs + 5_000, monotonicMs: 5_030 })).toBe(8_000);
});

test('due times: a frame written after the clock was set back is due at its own time', () => {
  const times = createDueTimes(5_000);
  times.dueAtMs(100_000 + hourMs, { wallMs: 100_000, monotonicMs: 0 });
  expect(times.dueAtMs(102_000, { wallMs: 101_000, monotonicMs: 1_000 })).toBe(2_000);
});

test('due times: property: whatever the wall clock does, no frame waits longer than the delay of its tier', () => {
  const step = fc.record({
    passedMs: fc.nat(20_000),
    jumpMs: fc.integer({ min: -2 * hourMs, max: 2 * hourMs }),
    delayMs: fc.nat(30_000),
  });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 30_000 }), fc.array(step, { maxLength: 50 }), (delayMaxMs, steps) => {
      const times = createDueTimes(delayMaxMs);
      let monotonicMs = 0;
      let wallMs = 10 * hourMs;
      let written = wallMs;
      for (const { passedMs, jumpMs, delayMs } of steps) {
        monotonicMs += passedMs;
        const notBeforeMs = written + Math.min(delayMs, delayMaxMs);
        wallMs += passedMs + jumpMs;
        written = wallMs;
        const dueAtMs = times.dueAtMs(notBeforeMs, { wallMs, monotonicMs });
        expect(dueAtMs).toBeGreaterThanOrEqual(monotonicMs);
        expect(dueAtMs).toBeLessThanOrEqual(monotonicMs + delayMaxMs);
      }
    }),
  );
});
