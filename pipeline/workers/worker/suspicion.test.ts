import { expect, test } from 'vitest';
import { isSetAside, noSuspicion, suspectAfterDeath } from './suspicion.ts';

const none = { watched: undefined, setAside: [] };

test('suspicion: what died together is watched, and the one that dies by itself is set aside', () => {
  const first = suspectAfterDeath(noSuspicion, { log: { from: 4, to: 9 } });
  expect(first).toEqual({ log: { watched: { from: 4, to: 9 }, setAside: [] }, retry: none });
  const second = suspectAfterDeath(first, { log: { from: 7, to: 7 } });
  expect(second.log).toEqual({ watched: { from: 4, to: 9 }, setAside: [{ seq: 7 }] });
  // Another one among them is found without a third round.
  expect(suspectAfterDeath(second, { log: { from: 9, to: 9 } }).log.setAside).toEqual([{ seq: 7 }, { seq: 9 }]);
});

test('suspicion: one death sets nothing aside, and one about no frames says nothing', () => {
  expect(suspectAfterDeath(noSuspicion, { log: { from: 5, to: 5 } }).log).toEqual({
    watched: { from: 5, to: 5 },
    setAside: [],
  });
  expect(suspectAfterDeath(noSuspicion, undefined)).toBe(noSuspicion);
  const before = { log: { watched: { from: 1, to: 3 }, setAside: [{ seq: 2 }] }, retry: none };
  expect(suspectAfterDeath(before, { log: { from: 8, to: 8 } }).log).toEqual({
    watched: { from: 1, to: 8 },
    setAside: [{ seq: 2 }],
  });
});

test('suspicion: the logs are kept apart: a sequence of one says nothing of that sequence in the other', () => {
  const first = suspectAfterDeath(noSuspicion, { retry: { from: 4, to: 9 } });
  expect(first).toEqual({ log: none, retry: { watched: { from: 4, to: 9 }, setAside: [] } });
  expect(suspectAfterDeath(first, { log: { from: 7, to: 7 } })).toEqual({
    log: { watched: { from: 7, to: 7 }, setAside: [] },
    retry: first.retry,
  });
  expect(suspectAfterDeath(first, { retry: { from: 7, to: 7 } })).toEqual({
    log: none,
    retry: { watched: { from: 4, to: 9 }, setAside: [{ seq: 7 }] },
  });
});

test('suspicion: where frames of both logs are at work, neither is by itself', () => {
  const frames = { log: { from: 3, to: 3 }, retry: { from: 7, to: 7 } };
  const first = suspectAfterDeath(noSuspicion, frames);
  expect(first).toEqual({
    log: { watched: { from: 3, to: 3 }, setAside: [] },
    retry: { watched: { from: 7, to: 7 }, setAside: [] },
  });
  expect(suspectAfterDeath(first, frames)).toEqual(first);
});

test('suspicion: of a frame of parked events one line is set aside, and the others are not', () => {
  const first = suspectAfterDeath(noSuspicion, { retry: { from: 4, to: 4, line: 1 } });
  const second = suspectAfterDeath(first, { retry: { from: 4, to: 4, line: 1 } });
  expect(second.retry.setAside).toEqual([{ seq: 4, line: 1 }]);
  expect([0, 1, undefined].map((line) => isSetAside(second.retry, 4, line))).toEqual([false, true, false]);
  const whole = { watched: undefined, setAside: [{ seq: 4 }] };
  expect([isSetAside(whole, 4), isSetAside(whole, 4, 1), isSetAside(whole, 5)]).toEqual([true, true, false]);
});
