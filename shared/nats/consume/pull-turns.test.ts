import { expect, test } from 'vitest';
import { PullTurns, askingMax, restMaxMs } from './pull-turns.ts';
import type { Asking, PullTurn } from './pull-turns.ts';

/** A stream, and readers of one subject that each want all its messages. */
function createReaders(count: number, { received = 0, lastSeq = 0 } = {}) {
  const clock = { nowMs: 0 };
  const turns = new PullTurns(() => clock.nowMs);
  const stream = { lastSeq };
  const readers = Array.from({ length: count }, () => {
    const reader = { received, asking: undefined as Asking | undefined, hasRoom: true, pull: (): void => undefined };
    const turn: PullTurn = turns.join(() => reader.pull());
    reader.pull = () => {
      if (!reader.hasRoom || reader.asking !== undefined) return;
      reader.asking = turn.begin();
    };
    return Object.assign(reader, { turn });
  });
  const asking = () => readers.filter((reader) => reader.asking !== undefined);
  /** Answers one of the pulling readers, as the server would; false if none gets an answer. */
  const answerOne = (): boolean => {
    for (const reader of readers) {
      if (reader.asking === undefined) continue;
      if (reader.received < stream.lastSeq) {
        reader.received += 1;
        reader.asking = undefined;
        reader.turn.received(reader.received);
        reader.turn.end(true);
      } else if (reader.asking === 'next') {
        reader.asking = undefined;
        reader.turn.end(false);
      } else continue;
      reader.pull();
      return true;
    }
    return false;
  };
  /** Answers until no reader gets an answer. Returns the largest number of readers that pulled at once. */
  const settle = (): number => {
    let most = asking().length;
    while (answerOne()) most = Math.max(most, asking().length);
    return most;
  };
  for (const reader of readers) reader.pull();
  return { clock, stream, readers, asking, settle };
}

test('pull turns: if there are only a few readers, all may ask at any time', () => {
  const { asking } = createReaders(askingMax);
  expect(asking().map((reader) => reader.asking)).toEqual(Array.from({ length: askingMax }, () => 'free'));
});

test('pull turns: if a thousand readers wait for a message, few ask at a time, and all receive it', () => {
  const { stream, readers, asking, settle } = createReaders(1_000);
  settle();
  expect(asking().map((reader) => reader.asking)).toEqual(['watch']);
  for (const lastSeq of [1, 4, 5]) {
    stream.lastSeq = lastSeq;
    // The readers that pull, and the one that waits at the server.
    expect(settle()).toBeLessThanOrEqual(askingMax + 1);
    expect(new Set(readers.map(({ received }) => received))).toEqual(new Set([lastSeq]));
    expect(asking().map((reader) => reader.asking)).toEqual(['watch']);
  }
});

test('pull turns: a reader without room does not delay other readers, and continues once it has room', () => {
  const { stream, readers, settle } = createReaders(100);
  settle();
  const full = readers.slice(0, 50);
  for (const reader of full) reader.hasRoom = false;
  stream.lastSeq = 3;
  settle();
  expect(readers.slice(50).every(({ received }) => received === 3)).toBe(true);
  for (const reader of full) {
    reader.hasRoom = true;
    reader.pull();
  }
  settle();
  expect(readers.every(({ received }) => received === 3)).toBe(true);
});

test('pull turns: a reader that catches up with old messages does not make all other readers ask each time', () => {
  const { stream, readers, settle } = createReaders(100, { received: 50, lastSeq: 50 });
  settle();
  // The turns record sequence 51: up to this sequence, a message for one reader wakes no other reader.
  stream.lastSeq = 51;
  settle();
  const [late] = readers;
  if (late === undefined) throw new Error('there are readers');
  late.turn.reset();
  Object.assign(late, { received: 0, asking: undefined });
  let asked = 0;
  for (const reader of readers.slice(1)) {
    const { pull } = reader;
    reader.pull = () => {
      asked += 1;
      pull();
    };
  }
  late.pull();
  settle();
  expect(late.received).toBe(51);
  expect(asked).toBeLessThan(readers.length);
});

test.each(['leave', 'reset'] as const)('pull turns: where the one that waits is void another one waits: %s', (how) => {
  const { stream, readers, asking, settle } = createReaders(100);
  settle();
  const [watcher] = asking();
  watcher?.turn[how]();
  Object.assign(watcher ?? {}, { asking: undefined, hasRoom: false });
  expect(asking().map((reader) => reader.asking)).toEqual(['watch']);
  stream.lastSeq = 1;
  settle();
  expect(readers.filter((reader) => reader !== watcher).every(({ received }) => received === 1)).toBe(true);
});

test('pull turns: a resting reader asks again after a while, whatever other readers have received', () => {
  const { clock, readers, asking, settle } = createReaders(100);
  settle();
  const resting = readers.find((reader) => reader.asking === undefined);
  resting?.pull();
  expect(asking()).toHaveLength(1);
  clock.nowMs = restMaxMs;
  resting?.pull();
  expect(resting?.asking).toBe('next');
});

test('pull turns: once only a few readers are left, all may ask at any time', () => {
  const { readers, asking, settle } = createReaders(askingMax + 10);
  settle();
  for (const reader of readers.splice(0, 10)) {
    reader.hasRoom = false;
    reader.turn.leave();
  }
  settle();
  expect(asking()).toHaveLength(askingMax);
});
