import { expect, test } from 'vitest';
import { createRetentionClock } from './retention-clock.ts';

const hourMs = 3_600_000;

test('retention clock: a jump forward is reported once, and time runs on without the jump until the clock is corrected', () => {
  const jumps: number[] = [];
  const now = createRetentionClock((jumpMs) => jumps.push(jumpMs));
  expect(now({ wallMs: 1_000, monotonicMs: 0 })).toBe(1_000);
  expect(now({ wallMs: 11_000, monotonicMs: 10_000 })).toBe(11_000);
  const jumpMs = 192 * hourMs;
  expect(now({ wallMs: 21_000 + jumpMs, monotonicMs: 20_000 })).toBe(21_000);
  expect(now({ wallMs: 31_000 + jumpMs, monotonicMs: 30_000 })).toBe(31_000);
  expect(jumps).toEqual([jumpMs]);
  expect(now({ wallMs: 40_000, monotonicMs: 40_000 })).toBe(40_000);
  expect(now({ wallMs: 50_000 + jumpMs, monotonicMs: 50_000 })).toBe(50_000);
  expect(jumps).toHaveLength(2);
});

test('retention clock: follows a clock that is set back, or set forward a little', () => {
  const now = createRetentionClock(() => expect.unreachable());
  now({ wallMs: 10 * hourMs, monotonicMs: 0 });
  expect(now({ wallMs: 2 * hourMs, monotonicMs: 1 })).toBe(2 * hourMs);
  expect(now({ wallMs: 3 * hourMs, monotonicMs: 2 })).toBe(3 * hourMs);
});
