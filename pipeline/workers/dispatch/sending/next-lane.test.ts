import { expect, test } from 'vitest';
import { nextLane } from './next-lane.ts';
import type { LaneChoice } from './next-lane.ts';

const both: LaneChoice = {
  isFreshReady: true,
  isRetriedReady: true,
  retriedInFlight: 0,
  freshSinceRetried: 3,
  asking: 'as ever',
};
const retriedOnly = { ...both, isFreshReady: false };

test('next lane: the only lane with events is chosen', () => {
  expect(nextLane({ ...both, isRetriedReady: false })).toBe('fresh');
  expect(nextLane(retriedOnly)).toBe('retried');
  expect(nextLane({ ...retriedOnly, isRetriedReady: false })).toBeUndefined();
});

test('next lane: both: retried events get a share of the requests in flight', () => {
  expect(nextLane(both)).toBe('retried');
  expect(nextLane({ ...both, retriedInFlight: 0.25 })).toBe('fresh');
});

test('next lane: both: with one request at a time, fresh and retried events take turns', () => {
  let freshSinceRetried = 3;
  const lanes = Array.from({ length: 8 }, () => {
    const lane = nextLane({ ...both, freshSinceRetried });
    freshSinceRetried = lane === 'retried' ? 0 : freshSinceRetried + 1;
    return lane;
  });
  expect(lanes).toEqual(['retried', 'fresh', 'fresh', 'fresh', 'retried', 'fresh', 'fresh', 'fresh']);
});

test('next lane: probe: uses a fresh event, and a retried event only if no fresh event has come for a while', () => {
  expect(nextLane({ ...both, asking: 'a probe' })).toBe('fresh');
  expect(nextLane({ ...both, asking: 'a fresh probe' })).toBe('fresh');
  expect(nextLane({ ...retriedOnly, asking: 'a fresh probe' })).toBeUndefined();
  expect(nextLane({ ...retriedOnly, asking: 'a probe' })).toBe('retried');
});
