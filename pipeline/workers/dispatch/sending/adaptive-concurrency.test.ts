import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { adaptConcurrency, openConcurrency } from './adaptive-concurrency.ts';

describe('adaptive concurrency', () => {
  const grown = { limit: 64, knownGood: 64, cutAtMs: -Infinity };

  test('start: the limit begins low, and each round of successful requests doubles it, up to the maximum', () => {
    let state = openConcurrency(64);
    const limits = [state.limit];
    while (state.limit < 64) {
      for (let left = state.limit; left > 0; left -= 1) {
        state = adaptConcurrency(state, 'well', 64, { startedMs: 0, endedMs: 1 });
      }
      limits.push(state.limit);
    }
    expect(limits).toEqual([4, 8, 16, 32, 64]);
    expect(openConcurrency(2).limit).toBe(2);
  });

  test('overload: the limit is halved once for all requests that were in flight together', () => {
    let state = grown;
    for (let i = 0; i < 64; i += 1) {
      state = adaptConcurrency(state, 'overloaded', 64, { startedMs: 0, endedMs: 100 + i });
    }
    expect(state.limit).toBe(32);
    state = adaptConcurrency(state, 'overloaded', 64, { startedMs: 101, endedMs: 200 });
    expect(state.limit).toBe(16);
  });

  test('recovery: after an overload, each round of successful requests raises the limit by about one', () => {
    let state = { limit: 16, knownGood: 16, cutAtMs: 0 };
    for (let i = 0; i < 16; i += 1) state = adaptConcurrency(state, 'well', 64, { startedMs: i, endedMs: i });
    expect(state.limit).toBeGreaterThan(16.9);
    expect(state.limit).toBeLessThanOrEqual(17);
  });

  test('property: the limit stays between one and the maximum', () => {
    const ends = fc.array(fc.constantFrom('well', 'overloaded'), { maxLength: 300 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), ends, fc.nat(2_000), (max, all, stepMs) => {
        let state = openConcurrency(max);
        all.forEach((end, i) => {
          state = adaptConcurrency(state, end, max, { startedMs: i * stepMs, endedMs: (i + 1) * stepMs });
          expect(state.limit).toBeGreaterThanOrEqual(1);
          expect(state.limit).toBeLessThanOrEqual(max);
        });
      }),
    );
  });
});
