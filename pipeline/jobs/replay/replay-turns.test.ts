import { expect, test, vi } from 'vitest';
import { ReplayTurns } from './replay-turns.ts';

test('replay turns: after each pause exactly one replay continues, however many there are, and they take turns', async () => {
  const pauses: (() => void)[] = [];
  const shared = new ReplayTurns(() => new Promise<void>((resolve) => pauses.push(resolve)));
  const done: string[] = [];
  const work = async (name: string): Promise<void> => {
    const turns = shared.ofReplay();
    for (let turn = 0; turn < 3; turn += 1) {
      await turns.spend(1_000_000);
      done.push(name);
    }
  };
  const all = Promise.all(['a', 'b', 'c'].map(work));
  for (let pause = 0; pause < 9; pause += 1) {
    await vi.waitUntil(() => pauses.length > pause);
    expect([pauses.length, done.length]).toEqual([pause + 1, pause]);
    pauses[pause]?.();
    await vi.waitUntil(() => done.length > pause);
  }
  await all;
  expect(done).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c']);
});
