import { expect, test } from 'vitest';
import { isQuarantined, noSuspicion, suspectAfterDeath } from './suspicion.ts';

const none = { watched: undefined, quarantined: [] };

test('suspicion: frames at work during a crash are isolated, and a frame that crashes alone is quarantined', () => {
  const first = suspectAfterDeath(noSuspicion, { log: { from: 4, to: 9 } });
  expect(first).toEqual({ log: { watched: { from: 4, to: 9 }, quarantined: [] }, retry: none });
  const second = suspectAfterDeath(first, { log: { from: 7, to: 7 } });
  expect(second.log).toEqual({ watched: { from: 4, to: 9 }, quarantined: [{ seq: 7 }] });
  // If only one watched frame is at work when the thread dies again, that frame is quarantined.
  expect(suspectAfterDeath(second, { log: { from: 9, to: 9 } }).log.quarantined).toEqual([{ seq: 7 }, { seq: 9 }]);
});

test('suspicion: one crash quarantines no frame, and a crash with no frame at work changes nothing', () => {
  expect(suspectAfterDeath(noSuspicion, { log: { from: 5, to: 5 } }).log).toEqual({
    watched: { from: 5, to: 5 },
    quarantined: [],
  });
  expect(suspectAfterDeath(noSuspicion, undefined)).toBe(noSuspicion);
  const before = { log: { watched: { from: 1, to: 3 }, quarantined: [{ seq: 2 }] }, retry: none };
  expect(suspectAfterDeath(before, { log: { from: 8, to: 8 } }).log).toEqual({
    watched: { from: 1, to: 8 },
    quarantined: [{ seq: 2 }],
  });
});

test('suspicion: a suspected sequence of one log does not affect the same sequence of the other log', () => {
  const first = suspectAfterDeath(noSuspicion, { retry: { from: 4, to: 9 } });
  expect(first).toEqual({ log: none, retry: { watched: { from: 4, to: 9 }, quarantined: [] } });
  expect(suspectAfterDeath(first, { log: { from: 7, to: 7 } })).toEqual({
    log: { watched: { from: 7, to: 7 }, quarantined: [] },
    retry: first.retry,
  });
  expect(suspectAfterDeath(first, { retry: { from: 7, to: 7 } })).toEqual({
    log: none,
    retry: { watched: { from: 4, to: 9 }, quarantined: [{ seq: 7 }] },
  });
});

test('suspicion: while frames of both logs are at work, neither frame counts as alone', () => {
  const frames = { log: { from: 3, to: 3 }, retry: { from: 7, to: 7 } };
  const first = suspectAfterDeath(noSuspicion, frames);
  expect(first).toEqual({
    log: { watched: { from: 3, to: 3 }, quarantined: [] },
    retry: { watched: { from: 7, to: 7 }, quarantined: [] },
  });
  expect(suspectAfterDeath(first, frames)).toEqual(first);
});

test('suspicion: a single line of a frame of parked events is quarantined without the other lines of the frame', () => {
  const first = suspectAfterDeath(noSuspicion, { retry: { from: 4, to: 4, line: 1 } });
  const second = suspectAfterDeath(first, { retry: { from: 4, to: 4, line: 1 } });
  expect(second.retry.quarantined).toEqual([{ seq: 4, line: 1 }]);
  expect([0, 1, undefined].map((line) => isQuarantined(second.retry, 4, line))).toEqual([false, true, false]);
  const whole = { watched: undefined, quarantined: [{ seq: 4 }] };
  expect([isQuarantined(whole, 4), isQuarantined(whole, 4, 1), isQuarantined(whole, 5)]).toEqual([true, true, false]);
});
