import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { frameLines, parseLine } from '../../shared/contracts/events/frame.ts';
import type { FrameOutcome, FrameWaiter } from './frame.ts';
import { GroupCommit } from './group-commit.ts';
import type { GroupCommitSettings } from './group-commit.ts';
import { EventSlice } from './frame.ts';
import { LogGate } from './log-gate.ts';

type Publish = { readonly partition: number; readonly ids: string[]; decide(outcome: FrameOutcome): void };

/** A log whose answers the test gives by hand. */
function createRig(overrides: Partial<GroupCommitSettings & { readonly roundMs: number }> = {}) {
  const published: Publish[] = [];
  const gate = new LogGate(() => connected);
  let connected = true;
  const settings = {
    partitions: 4,
    frameBytesMax: 1024,
    frameLingerMs: 0,
    roundMs: 0,
    roundBytes: 1024,
    framesInFlightMax: 4,
    queueEventsMax: 1000,
    queueBytesMax: 1024 ** 2,
    deadlineMs: 2_000,
    ...overrides,
  };
  const commit = new GroupCommit(
    settings,
    { msAt: () => settings.roundMs },
    gate,
    (partition, payload) =>
      new Promise((resolve) => {
        const ids = frameLines(payload).map((line) => (parseLine(line) as { readonly id: string }).id);
        published.push({ partition, ids, decide: resolve });
      }),
  );
  commits.push(commit);
  const answers: string[] = [];
  return {
    commit,
    gate,
    published,
    answers,
    disconnect: () => (connected = false),
    add(partition: number, id: string, filler = '', accountId = 'a'): void {
      const body = Buffer.from(JSON.stringify({ filler }));
      const waiter: FrameWaiter = { frameDecided: (outcome, tag) => void answers.push(`${id} ${tag} ${outcome}`) };
      commit.append(partition, `{"v":1,"id":"${id}","body":`, new EventSlice(body, accountId), waiter, answers.length);
    },
    turn: () => vi.advanceTimersByTimeAsync(1),
  };
}

const commits: GroupCommit[] = [];
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const commit of commits.splice(0)) commit.stop();
  vi.useRealTimers();
});

test('group commit: events of one turn of the loop share a frame, and all are answered at once', async () => {
  const rig = createRig();
  for (const id of ['a', 'b', 'c']) rig.add(1, id);
  expect(rig.published).toHaveLength(0);
  await rig.turn();
  expect(rig.published.map(({ partition, ids }) => [partition, ids])).toEqual([[1, ['a', 'b', 'c']]]);
  expect(rig.answers).toEqual([]);
  rig.published[0]?.decide('stored');
  await rig.turn();
  expect(rig.answers).toEqual(['a 0 stored', 'b 0 stored', 'c 0 stored']);
  expect(rig.commit.queuedEvents).toBe(0);
  expect(rig.commit.queuedBytes).toBe(0);
});

test('group commit: a partition has one frame in flight, and its next frame holds all events that arrived meanwhile', async () => {
  const rig = createRig();
  rig.add(0, 'a');
  await rig.turn();
  rig.add(0, 'b');
  await rig.turn();
  rig.add(0, 'c');
  await rig.turn();
  expect(rig.published).toHaveLength(1);
  rig.published[0]?.decide('stored');
  await rig.turn();
  expect(rig.published[1]?.ids).toEqual(['b', 'c']);
});

test('group commit: at most framesInFlightMax frames are in flight in all partitions, and the oldest event goes first', async () => {
  const rig = createRig({ framesInFlightMax: 1 });
  rig.add(3, 'a');
  await rig.turn();
  rig.add(2, 'b');
  await rig.turn();
  rig.add(0, 'c');
  await rig.turn();
  expect(rig.published.map(({ ids }) => ids)).toEqual([['a']]);
  for (const index of [0, 1, 2]) {
    rig.published[index]?.decide('stored');
    await rig.turn();
  }
  expect(rig.published.map(({ ids }) => ids)).toEqual([['a'], ['b'], ['c']]);
});

test('group commit: while a frame is in flight, another is sent only after frameLingerMs', async () => {
  const rig = createRig({ frameLingerMs: 20 });
  rig.add(0, 'a');
  await rig.turn();
  rig.add(1, 'b');
  await vi.advanceTimersByTimeAsync(15);
  rig.add(1, 'c');
  expect(rig.published.map(({ ids }) => ids)).toEqual([['a']]);
  await vi.advanceTimersByTimeAsync(10);
  expect(rig.published.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c']]);
});

test('group commit: a frame does not wait once nothing is in flight', async () => {
  const rig = createRig({ frameLingerMs: 1_000 });
  rig.add(0, 'a');
  await rig.turn();
  rig.add(1, 'b');
  await rig.turn();
  rig.published[0]?.decide('stored');
  await rig.turn();
  expect(rig.published.map(({ ids }) => ids)).toEqual([['a'], ['b']]);
});

test('group commit: rounds are at least roundMs apart, and events that arrive meanwhile are sent in the next round', async () => {
  const rig = createRig({ roundMs: 10 });
  rig.add(0, 'a');
  await rig.turn();
  rig.published[0]?.decide('stored');
  rig.add(1, 'b');
  await rig.turn();
  rig.add(1, 'c');
  await vi.advanceTimersByTimeAsync(4);
  expect(rig.published.map(({ ids }) => ids)).toEqual([['a']]);
  await vi.advanceTimersByTimeAsync(6);
  expect(rig.published.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c']]);
});

test('group commit: a round that has roundBytes is sent early, and the round after it waits for roundMs from then', async () => {
  const rig = createRig({ roundMs: 10, roundBytes: 200, frameBytesMax: 4096 });
  rig.add(0, 'a');
  await rig.turn();
  rig.published[0]?.decide('stored');
  rig.add(1, 'b');
  await rig.turn();
  expect(rig.published).toHaveLength(1);
  rig.add(1, 'c', 'x'.repeat(150));
  await rig.turn();
  expect(rig.published.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c']]);
  rig.published[1]?.decide('stored');
  rig.add(1, 'd');
  await vi.advanceTimersByTimeAsync(5);
  expect(rig.published).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(5);
  expect(rig.published[2]?.ids).toEqual(['d']);
});

test('group commit: a round with half of roundBytes waits for half of roundMs', async () => {
  const rig = createRig({ roundMs: 20, roundBytes: 400, frameBytesMax: 4096 });
  rig.add(0, 'a');
  await rig.turn();
  rig.published[0]?.decide('stored');
  rig.add(1, 'b', 'x'.repeat(160));
  await vi.advanceTimersByTimeAsync(7);
  expect(rig.published).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(4);
  expect(rig.published.map(({ ids }) => ids)).toEqual([['a'], ['b']]);
  rig.published[1]?.decide('stored');
  rig.add(1, 'c');
  await vi.advanceTimersByTimeAsync(12);
  expect(rig.published).toHaveLength(2);
  rig.add(1, 'd', 'x'.repeat(160));
  await vi.advanceTimersByTimeAsync(1);
  expect(rig.published[2]?.ids).toEqual(['c', 'd']);
});

test('group commit: after a pause a round does not wait', async () => {
  const rig = createRig({ roundMs: 10 });
  rig.add(0, 'a');
  await rig.turn();
  rig.published[0]?.decide('stored');
  await vi.advanceTimersByTimeAsync(10);
  rig.add(0, 'b');
  await rig.turn();
  expect(rig.published.map(({ ids }) => ids)).toEqual([['a'], ['b']]);
});

test('group commit: an event that arrives while the log is idle is sent at once, even after an earlier frame was delayed', async () => {
  const rig = createRig({ frameLingerMs: 1_000 });
  rig.add(0, 'a');
  await rig.turn();
  rig.add(1, 'b');
  for (const index of [0, 1]) {
    rig.published[index]?.decide('stored');
    await rig.turn();
  }
  rig.add(2, 'c');
  await rig.turn();
  expect(rig.published.map(({ ids }) => ids)).toEqual([['a'], ['b'], ['c']]);
});

test('group commit: a frame that reaches its maximum size is closed, and order is kept', async () => {
  const rig = createRig({ frameBytesMax: 400 });
  for (const id of ['a', 'b', 'c', 'd']) rig.add(0, id, 'x'.repeat(150));
  await rig.turn();
  for (let index = 0; index < 3; index += 1) {
    rig.published[index]?.decide('stored');
    await rig.turn();
  }
  const order = rig.published.flatMap(({ ids }) => ids);
  expect(rig.published.length).toBeGreaterThan(1);
  expect(order).toEqual(['a', 'b', 'c', 'd']);
});

test('group commit: an event larger than a frame gets its own frame', async () => {
  const rig = createRig({ frameBytesMax: 100 });
  rig.add(0, 'big', 'x'.repeat(500));
  await rig.turn();
  expect(rig.published[0]?.ids).toEqual(['big']);
});

test('group commit: there is no room while the queue is full or the log is disconnected', () => {
  const rig = createRig({ queueEventsMax: 3 });
  rig.add(0, 'a', '', 'one');
  rig.add(0, 'b', '', 'two');
  expect(rig.commit.hasRoom(1, 10, 'three')).toBe(true);
  expect(rig.commit.hasRoom(2, 10, 'three')).toBe(false);
  rig.add(0, 'c', '', 'three');
  expect(rig.commit.hasRoom(1, 10, 'four')).toBe(false);
  const away = createRig();
  away.disconnect();
  expect(away.commit.hasRoom(1, 1, 'one')).toBe(false);
});

test('group commit: an account uses at most half of the queue, so that other accounts have room', async () => {
  const rig = createRig({ queueEventsMax: 4, queueBytesMax: 2_000, frameBytesMax: 4_096 });
  rig.add(0, 'a', '', 'loud');
  rig.add(0, 'b', '', 'quiet');
  rig.add(0, 'c', '', 'loud');
  expect(rig.commit.hasRoom(1, 10, 'loud')).toBe(false);
  expect([rig.commit.hasRoom(1, 900, 'quiet'), rig.commit.hasRoom(1, 1_001, 'quiet')]).toEqual([true, false]);
  await rig.turn();
  rig.published[0]?.decide('stored');
  await rig.turn();
  expect([rig.commit.hasRoom(2, 1_000, 'loud'), rig.commit.hasRoom(2, 1_000, 'quiet')]).toEqual([true, true]);
  rig.add(0, 'd', 'x'.repeat(900), 'loud');
  expect([rig.commit.hasRoom(1, 100, 'loud'), rig.commit.hasRoom(1, 100, 'quiet')]).toEqual([false, true]);
});

test('group commit: a batch of more than half of the queue has room once nothing of its account is queued', async () => {
  const rig = createRig({ queueEventsMax: 4, queueBytesMax: 2_000 });
  expect([rig.commit.hasRoom(4, 2_000, 'a'), rig.commit.hasRoom(5, 10, 'a')]).toEqual([true, false]);
  expect(rig.commit.hasRoom(1, 2_001, 'a')).toBe(false);
  rig.add(0, 'one', '', 'b');
  expect([rig.commit.hasRoom(3, 1_500, 'a'), rig.commit.hasRoom(4, 1_500, 'a')]).toEqual([true, false]);
  rig.add(0, 'two', '', 'a');
  expect([rig.commit.hasRoom(1, 10, 'a'), rig.commit.hasRoom(2, 10, 'a')]).toEqual([true, false]);
});

test('group commit: if the log does not answer in time, all waiting events fail at once and no new ones are accepted', async () => {
  const rig = createRig();
  rig.add(0, 'a');
  await rig.turn();
  rig.add(0, 'b');
  rig.add(1, 'c');
  rig.published[0]?.decide('timeout');
  await rig.turn();
  expect(rig.answers).toEqual(['a 0 timeout', 'b 0 stalled', 'c 0 stalled']);
  expect(rig.commit.hasRoom(1, 1, 'a')).toBe(false);
  rig.gate.noteAlive();
  expect(rig.commit.hasRoom(1, 1, 'a')).toBe(true);
});

test('group commit: a refusal fails its own frame only', async () => {
  const rig = createRig();
  rig.add(0, 'a');
  await rig.turn();
  rig.add(0, 'b');
  rig.published[0]?.decide('full');
  await rig.turn();
  rig.published[1]?.decide('stored');
  await rig.turn();
  expect(rig.answers.map((line) => line.split(' ').at(-1))).toEqual(['full', 'stored']);
  expect(rig.gate.problem(performance.now())).toBeUndefined();
});

test('group commit: an event that cannot be sent fails before its deadline', async () => {
  const rig = createRig({ framesInFlightMax: 1 });
  rig.add(0, 'a');
  await rig.turn();
  rig.add(1, 'b');
  await vi.advanceTimersByTimeAsync(1_700);
  expect(rig.answers).toEqual([]);
  await vi.advanceTimersByTimeAsync(100);
  expect(rig.answers).toEqual(['b 0 stalled']);
});

test('group commit: drained() resolves once the last frame is decided', async () => {
  const rig = createRig();
  rig.add(0, 'a');
  let drained = false;
  void rig.commit.drained().then(() => (drained = true));
  await rig.turn();
  expect(drained).toBe(false);
  rig.published[0]?.decide('stored');
  await rig.turn();
  expect(drained).toBe(true);
});
