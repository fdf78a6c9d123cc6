import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ReplayTurns } from './replay-turns.ts';

test('replay turns: however many replays there are, one of them has a turn in a round of the event loop', async () => {
  const shared = new ReplayTurns();
  const done: string[] = [];
  const work = async (name: string): Promise<void> => {
    const turns = shared.ofReplay();
    for (let turn = 0; turn < 3; turn += 1) {
      await turns.spend(1_000_000);
      done.push(name);
    }
  };
  const all = Promise.all(['a', 'b', 'c'].map(work));
  const perRound: number[] = [];
  while (done.length < 9) {
    const before = done.length;
    await setImmediate();
    perRound.push(done.length - before);
  }
  await all;
  expect(Math.max(...perRound)).toBe(1);
  // And they take turns.
  expect(done.slice(0, 3)).toEqual(['a', 'b', 'c']);
});
