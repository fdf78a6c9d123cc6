import { expect, test, vi } from 'vitest';
import { WaitingBytes } from './waiting-bytes.ts';
import type { ResolverProgress } from './waiting-bytes.ts';

const state =
  (firstSeq: number, lastSeq: number, resolvers: Readonly<Record<number, ResolverProgress>> = {}) =>
  () =>
    Promise.resolve({
      state: { bytes: 1_000, messages: lastSeq - firstSeq + 1, firstSeq, lastSeq },
      resolvers: new Map(Object.entries(resolvers).map(([partition, progress]) => [Number(partition), progress])),
    });
const busy = (ackedSeq: number): ResolverProgress => ({ ackedSeq, waiting: 5, unacknowledged: 1 });
const idle = (ackedSeq: number): ResolverProgress => ({ ackedSeq, waiting: 0, unacknowledged: 0 });
const none: ReadonlyMap<string, number> = new Map();
const all = (waiting: WaitingBytes, bytes = 1e9, queued = none) => Object.fromEntries(waiting.all(bytes, queued));

test('waiting bytes: stored bytes count until the log has removed them', async () => {
  const waiting = new WaitingBytes();
  waiting.add(0, 'a', 10);
  waiting.add(0, 'b', 1);
  await waiting.look(state(1, 5));
  waiting.add(1, 'a', 20);
  await waiting.look(state(3, 9));
  expect(all(waiting)).toEqual({ a: 30, b: 1 });
  await waiting.look(state(6, 9));
  expect(all(waiting)).toEqual({ a: 20 });
  await waiting.look(state(10, 9));
  expect([all(waiting), waiting.isEmpty]).toEqual([{}, true]);
});

test('waiting bytes: bytes acknowledged by the resolver of their partition no longer count, even while the log still has them', async () => {
  const waiting = new WaitingBytes();
  waiting.add(0, 'a', 10);
  waiting.add(1, 'b', 1);
  await waiting.look(state(1, 5, { 0: busy(0), 1: busy(0) }));
  waiting.add(0, 'a', 20);
  await waiting.look(state(1, 9, { 0: busy(4), 1: busy(4) }));
  expect(all(waiting)).toEqual({ a: 30, b: 1 });
  await waiting.look(state(1, 9, { 0: busy(5), 1: busy(2) }));
  expect(all(waiting)).toEqual({ a: 20, b: 1 });
  await waiting.look(state(1, 9, { 0: busy(9), 1: busy(2) }));
  expect(all(waiting)).toEqual({ b: 1 });
});

test('waiting bytes: an idle resolver has resolved all bytes stored before the previous reading, but not those stored since', async () => {
  const waiting = new WaitingBytes();
  waiting.add(0, 'a', 10);
  await waiting.look(state(1, 5, { 0: idle(0) }));
  expect(all(waiting)).toEqual({ a: 10 });
  waiting.add(0, 'b', 1);
  await waiting.look(state(1, 6, { 0: idle(3) }));
  expect(all(waiting)).toEqual({ b: 1 });
  await waiting.look(state(1, 6, { 0: idle(3) }));
  expect([all(waiting), waiting.isEmpty]).toEqual([{}, true]);
});

test('waiting bytes: only the resolvers of partitions with something waiting are read', async () => {
  const waiting = new WaitingBytes();
  const read = vi.fn<(partitions: readonly number[]) => ReturnType<ReturnType<typeof state>>>(state(1, 5));
  await waiting.look(read);
  waiting.add(3, 'a', 10);
  await waiting.look(read);
  waiting.add(7, 'a', 10);
  await waiting.look(read);
  expect(read.mock.calls).toEqual([[[]], [[3]], [[3, 7]]]);
});

test('waiting bytes: bytes stored during a reading of the log do not count as resolved', async () => {
  const waiting = new WaitingBytes();
  waiting.add(0, 'a', 10);
  const looking = waiting.look(state(6, 5));
  waiting.add(0, 'a', 5);
  await looking;
  expect([all(waiting), waiting.sinceBytes]).toEqual([{ a: 5 }, 5]);
});

test('waiting bytes: after a failed reading, stored bytes still count, and the next readings include them', async () => {
  const waiting = new WaitingBytes();
  waiting.add(0, 'a', 10);
  await expect(waiting.look(() => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
  expect(all(waiting)).toEqual({ a: 10 });
  await waiting.look(state(1, 5));
  await waiting.look(state(6, 6));
  expect(all(waiting)).toEqual({});
});

test('waiting bytes: bytes stored before the log was recreated no longer count', async () => {
  const waiting = new WaitingBytes();
  waiting.add(0, 'a', 10);
  await waiting.look(state(100, 500));
  await waiting.look(state(1, 3));
  expect(all(waiting)).toEqual({});
});

test('waiting bytes: bytes in queues count for their account, whichever gateway stored them', async () => {
  const waiting = new WaitingBytes();
  waiting.add(0, 'a', 10);
  const queued = new Map([['a', 100], ['b', 50]]); // prettier-ignore
  expect(all(waiting, 1e9, queued)).toEqual({ a: 110, b: 50 });
  await waiting.look(state(1, 5, { 0: busy(5) }));
  expect(all(waiting, 1e9, queued)).toEqual({ a: 100, b: 50 });
  expect(all(waiting)).toEqual({});
});

test('waiting bytes: all accounts together never have more than the log holds, even while frames are copied to a queue', () => {
  const waiting = new WaitingBytes();
  waiting.add(0, 'a', 200);
  waiting.add(0, 'b', 100);
  expect(all(waiting, 200, new Map([['a', 100]]))).toEqual({ a: 150, b: 50 });
});

test('waiting bytes: as long as the log removes nothing, all stored bytes count', async () => {
  const waiting = new WaitingBytes();
  for (let seq = 1; seq <= 3_000; seq += 1) {
    waiting.add(0, 'a', 1);
    await waiting.look(state(1, seq));
  }
  expect(all(waiting)).toEqual({ a: 3_000 });
  await waiting.look(state(3_001, 3_001));
  expect(all(waiting)).toEqual({});
});

test('waiting bytes: growth is reported in steps, which start from zero at each reading', async () => {
  const waiting = new WaitingBytes();
  const grown = vi.fn<() => void>();
  waiting.onGrown(10, grown);
  for (let i = 0; i < 25; i += 1) waiting.add(0, 'a', 1);
  expect(grown).toHaveBeenCalledTimes(2);
  await waiting.look(state(1, 1));
  waiting.add(0, 'a', 9);
  expect(grown).toHaveBeenCalledTimes(2);
});
