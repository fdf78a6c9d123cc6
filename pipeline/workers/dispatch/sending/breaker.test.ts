import fc from 'fast-check';
import { expect, test } from 'vitest';
import { breakerAt, breakerEnded, breakerLimits, breakerRoom, breakerStarted, closedBreaker } from './breaker.ts';
import type { BreakerState } from './breaker.ts';

const ended = (state: BreakerState, ok: boolean, endedMs: number, random: number, tookMs = 0): BreakerState =>
  breakerEnded(state, { ok, startedMs: endedMs - tookMs, endedMs }, random);
const fail = (state: BreakerState, nowMs: number, random = 1): BreakerState => ended(state, false, nowMs, random);
const failTimes = (times: number): BreakerState =>
  Array.from({ length: times }).reduce<BreakerState>((state) => fail(state, 0), closedBreaker);

test('breaker: closed: opens only after enough failures in a row', () => {
  expect(failTimes(49)).toEqual({ kind: 'closed', failuresInARow: 49, sinceMs: 0 });
  expect(failTimes(50)).toEqual({ kind: 'open', untilMs: 1_000, timesOpened: 1 });
  expect(ended(failTimes(49), true, 0, 0)).toEqual(closedBreaker);
  expect(fail(failTimes(9), 249)).toMatchObject({ kind: 'closed' });
  expect(fail(failTimes(9), 250)).toMatchObject({ kind: 'open' });
  expect(fail(failTimes(8), 9_999)).toMatchObject({ kind: 'closed' });
});

test('breaker: closed: opens when the first four requests hang, with no answer in between', () => {
  const hang = (state: BreakerState): BreakerState => ended(state, false, 3_000, 0, 3_000);
  const thrice = [1, 2, 3].reduce(hang, closedBreaker);
  expect(thrice).toMatchObject({ kind: 'closed' });
  expect(hang(thrice)).toMatchObject({ kind: 'open', timesOpened: 1 });
  expect(hang(ended(thrice, true, 3_000, 0))).toMatchObject({ kind: 'closed' });
});

test('breaker: closed: stays closed if many requests that were in flight together fail at once, however slow they were', () => {
  const slow = (state: BreakerState): BreakerState => ended(state, false, 1_900, 0, 1_900);
  expect(Array.from({ length: 49 }).reduce<BreakerState>(slow, closedBreaker)).toMatchObject({ kind: 'closed' });
});

test('breaker: flapping: every other request failing never opens it', () => {
  let state: BreakerState = closedBreaker;
  for (let i = 0; i < 1_000; i += 1) state = ended(state, i % 2 === 0, i, 0.5);
  expect(state.kind).toBe('closed');
});

test('breaker: half failing: at full speed, chance runs of failures do not open it', () => {
  let state: BreakerState = closedBreaker;
  let seed = 42;
  let longest = 0;
  for (let i = 0; i < 100_000; i += 1) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    state = ended(state, seed >>> 31 === 1, i / 20, 0.5);
    if (state.kind === 'closed') longest = Math.max(longest, state.failuresInARow);
  }
  expect(state.kind).toBe('closed');
  expect(longest).toBeGreaterThan(10);
});

test('breaker: open: lets no request through, and later one probe', () => {
  const open = failTimes(50);
  expect(breakerRoom(breakerAt(open, 999))).toBe(0);
  const halfOpen = breakerAt(open, 1_000);
  expect(breakerRoom(halfOpen)).toBe(1);
  expect(breakerRoom(breakerStarted(halfOpen))).toBe(0);
});

test('breaker: half-open: a successful probe closes it, and a failed probe opens it for longer', () => {
  const probing = breakerStarted(breakerAt(failTimes(50), 1_000));
  expect(ended(probing, true, 1_100, 0)).toEqual(closedBreaker);
  expect(fail(probing, 1_100)).toEqual({ kind: 'open', untilMs: 3_100, timesOpened: 2 });
});

test('breaker: open: a late answer to an earlier request closes it if it is a success, and otherwise changes nothing', () => {
  const open = failTimes(50);
  expect(fail(open, 500)).toBe(open);
  expect(ended(open, true, 500, 0)).toEqual(closedBreaker);
});

test('breaker: property: it never stays open longer than the limit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.double({ min: 0, max: 0.999, noNaN: true }), (rounds, random) => {
      let state = failTimes(50);
      let nowMs = 0;
      for (let i = 0; i < rounds; i += 1) {
        if (state.kind !== 'open') return expect.unreachable('every probe failed');
        expect(state.untilMs - nowMs).toBeLessThanOrEqual(breakerLimits.openMaxMs);
        nowMs = state.untilMs;
        state = ended(breakerStarted(breakerAt(state, nowMs)), false, nowMs, random);
      }
    }),
  );
});
