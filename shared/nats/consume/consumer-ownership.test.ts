import { expect, test } from 'vitest';
import { ConsumerOwnership } from './consumer-ownership.ts';
import { ConsumerTakenError } from './consumers.ts';
import { RunState } from './run-state.ts';

function open(confirm: () => Promise<void>) {
  const ends: string[] = [];
  const state = new RunState(() => ends.push('ended'));
  const clock = { ms: 0 };
  const ownership = new ConsumerOwnership({ confirm }, state, () => clock.ms);
  return { ownership, state, clock, ends };
}

test('ownership: after a standstill it is uncertain until the server confirms it, and concurrent callers share a request', async () => {
  let asked = 0;
  const { ownership, clock } = open(() => {
    asked += 1;
    // The first answer is lost.
    return asked === 1 ? Promise.reject(new Error('no answer')) : Promise.resolve();
  });
  for (clock.ms = 0; clock.ms < 3_000; clock.ms += 500) ownership.look();
  await ownership.confirm();
  expect([ownership.isCurrent, asked]).toEqual([true, 0]);
  clock.ms += 2_000;
  expect(ownership.isCurrent).toBe(false);
  // A process that runs normally again still needs the confirmation.
  ownership.look();
  expect(ownership.isCurrent).toBe(false);
  await Promise.all([ownership.confirm(), ownership.confirm()]);
  expect([ownership.isCurrent, asked]).toEqual([true, 2]);
});

test('ownership: a reader that has lost its consumer ends, and never owns it again', async () => {
  const taken = new ConsumerTakenError('taken over');
  const { ownership, state, clock, ends } = open(() => Promise.reject(taken));
  clock.ms = 2_000;
  await expect(ownership.confirm()).rejects.toBe(taken);
  ownership.look();
  await expect(ownership.confirm()).rejects.toBe(taken);
  expect([ownership.isCurrent, state.isClosed, ends]).toEqual([false, true, ['ended']]);
});

test('ownership: a closed reader gets the server’s answer or its error, and closing never counts as a confirmation', async () => {
  const answers = [
    () => Promise.reject(new Error('no answer')),
    () => Promise.resolve(),
    () => Promise.reject(new ConsumerTakenError('taken over')),
  ];
  const { ownership, state, clock } = open(() => answers.shift()?.() ?? Promise.reject(new Error('asked too often')));
  state.close();
  clock.ms = 2_000;
  await expect(ownership.confirm()).rejects.toThrow('no answer');
  expect(ownership.isCurrent).toBe(false);
  await ownership.confirm();
  expect(ownership.isCurrent).toBe(true);
  clock.ms = 4_000;
  await expect(ownership.confirm()).rejects.toThrow(ConsumerTakenError);
  expect(answers).toEqual([]);
});

test('ownership: a reader that is closed while it asks the server does not ask endlessly', async () => {
  const { ownership, state, clock } = open(() => {
    state.close();
    return Promise.reject(new Error('no answer'));
  });
  clock.ms = 2_000;
  await expect(ownership.confirm()).rejects.toThrow('no answer');
});

test('run state: a paused reader stays paused even while it waits, and a closed reader cannot be reopened', () => {
  const { state, ends } = open(() => Promise.resolve());
  state.pause();
  state.begin();
  expect(state.isPulling).toBe(false);
  state.resume();
  expect(state.isPulling).toBe(true);
  state.close();
  state.resume();
  state.begin();
  state.pause();
  const taken = new ConsumerTakenError('taken over');
  state.lose(taken);
  expect([state.isPulling, state.isClosed, state.takenOver, ends]).toEqual([false, true, taken, ['ended']]);
});
