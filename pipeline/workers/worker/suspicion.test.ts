import { expect, test } from 'vitest';
import { noSuspicion, suspectAfterDeath } from './suspicion.ts';

test('suspicion: what died together is watched, and the one that dies by itself is set aside', () => {
  const first = suspectAfterDeath(noSuspicion, { from: 4, to: 9 });
  expect(first).toEqual({ watched: { from: 4, to: 9 }, setAside: [] });
  const second = suspectAfterDeath(first, { from: 7, to: 7 });
  expect(second).toEqual({ watched: { from: 4, to: 9 }, setAside: [7] });
  // Another one among them is found without a third round.
  expect(suspectAfterDeath(second, { from: 9, to: 9 }).setAside).toEqual([7, 9]);
});

test('suspicion: one death sets nothing aside, and one about no frames says nothing', () => {
  expect(suspectAfterDeath(noSuspicion, { from: 5, to: 5 })).toEqual({ watched: { from: 5, to: 5 }, setAside: [] });
  expect(suspectAfterDeath(noSuspicion, undefined)).toBe(noSuspicion);
  expect(suspectAfterDeath({ watched: { from: 1, to: 3 }, setAside: [2] }, { from: 8, to: 8 })).toEqual({
    watched: { from: 1, to: 8 },
    setAside: [2],
  });
});
