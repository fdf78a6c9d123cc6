import { expect, test, vi } from 'vitest';
import { WaitingBytes } from './waiting-bytes.ts';

const state =
  (firstSeq: number, lastSeq: number, bytes = 1_000) =>
  () =>
    Promise.resolve({ bytes, messages: lastSeq - firstSeq + 1, firstSeq, lastSeq });
const all = (waiting: WaitingBytes, bytes = 1e9) => Object.fromEntries(waiting.all(bytes));

test('waiting bytes: what was stored waits until the log begins behind it', async () => {
  const waiting = new WaitingBytes();
  waiting.add('a', 10);
  waiting.add('b', 1);
  await waiting.look(state(1, 5));
  waiting.add('a', 20);
  await waiting.look(state(3, 9));
  expect(all(waiting)).toEqual({ a: 30, b: 1 });
  await waiting.look(state(6, 9));
  expect(all(waiting)).toEqual({ a: 20 });
  await waiting.look(state(10, 9));
  expect([all(waiting), waiting.isEmpty]).toEqual([{}, true]);
});

test('waiting bytes: what is stored while the log is looked at is not taken for resolved', async () => {
  const waiting = new WaitingBytes();
  waiting.add('a', 10);
  const looking = waiting.look(state(6, 5));
  waiting.add('a', 5);
  await looking;
  expect([all(waiting), waiting.sinceBytes]).toEqual([{ a: 5 }, 5]);
});

test('waiting bytes: a look that fails leaves what was stored to the next one', async () => {
  const waiting = new WaitingBytes();
  waiting.add('a', 10);
  await expect(waiting.look(() => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
  expect(all(waiting)).toEqual({ a: 10 });
  await waiting.look(state(1, 5));
  await waiting.look(state(6, 6));
  expect(all(waiting)).toEqual({});
});

test('waiting bytes: of a log that was made again nothing waits', async () => {
  const waiting = new WaitingBytes();
  waiting.add('a', 10);
  await waiting.look(state(100, 500));
  await waiting.look(state(1, 3));
  expect(all(waiting)).toEqual({});
});

test('waiting bytes: together they are no more than the log has, as while one partition stands still', async () => {
  const waiting = new WaitingBytes();
  waiting.add('a', 300);
  waiting.add('b', 100);
  await waiting.look(state(1, 5, 200));
  expect(all(waiting, 200)).toEqual({ a: 150, b: 50 });
});

test('waiting bytes: for however long the log stands, what is kept is bounded and nothing is forgotten', async () => {
  const waiting = new WaitingBytes();
  for (let seq = 1; seq <= 3_000; seq += 1) {
    waiting.add('a', 1);
    await waiting.look(state(1, seq));
  }
  expect(all(waiting)).toEqual({ a: 3_000 });
  await waiting.look(state(3_001, 3_001));
  expect(all(waiting)).toEqual({});
});

test('waiting bytes: growth is reported by steps, from each look on', async () => {
  const waiting = new WaitingBytes();
  const grown = vi.fn<() => void>();
  waiting.onGrown(10, grown);
  for (let i = 0; i < 25; i += 1) waiting.add('a', 1);
  expect(grown).toHaveBeenCalledTimes(2);
  await waiting.look(state(1, 1));
  waiting.add('a', 9);
  expect(grown).toHaveBeenCalledTimes(2);
});
