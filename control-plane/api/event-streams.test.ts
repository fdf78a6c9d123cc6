import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createEventStreams } from './event-streams.ts';
import type { Feed } from './event-streams.ts';

const keepAliveMs = 15_000;
const quiet: Feed = { subscribe: () => () => undefined };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const streamsOf = () => createEventStreams({ streamsMax: 10, streamsOfAccountMax: 5, keepAliveMs });
const turn = () => vi.advanceTimersByTimeAsync(keepAliveMs);

test('event streams: a stream stays open while its key is valid, and ends at the next keep-alive after that', async () => {
  const streams = streamsOf();
  let isValid = true;
  streams.open({ accountId: 'a', isValid: async () => isValid }, quiet).resume();
  await turn();
  expect(streams.openCount).toBe(1);
  isValid = false;
  await turn();
  await vi.waitFor(() => expect(streams.openCount).toBe(0));
});

test('event streams: a stream whose key cannot be checked ends', async () => {
  const streams = streamsOf();
  streams.open({ accountId: 'a', isValid: () => Promise.reject(new Error('no database')) }, quiet).resume();
  await turn();
  await vi.waitFor(() => expect(streams.openCount).toBe(0));
});

test('event streams: a stream ends if the check of its key has no answer by the next keep-alive', async () => {
  const streams = streamsOf();
  streams.open({ accountId: 'a', isValid: () => new Promise(() => undefined) }, quiet).resume();
  await turn();
  expect(streams.openCount).toBe(1);
  await turn();
  await vi.waitFor(() => expect(streams.openCount).toBe(0));
});

test('event streams: a requested check covers one account, and a stream ended by the check receives nothing more', async () => {
  const streams = streamsOf();
  let push: (value: unknown) => void = () => undefined;
  const feed: Feed = {
    subscribe(listener) {
      push = listener;
      return () => undefined;
    },
  };
  const checked: string[] = [];
  const ending = (accountId: string) => ({
    accountId,
    isValid: async () => {
      checked.push(accountId);
      return false;
    },
  });
  streams.open(ending('b'), quiet).resume();
  const stream = streams.open(ending('a'), feed);
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await vi.waitFor(() => expect(text).not.toBe(''));
  await streams.recheck('a');
  push('late');
  await vi.waitFor(() => expect(streams.openCount).toBe(1));
  expect([checked, text]).toEqual([['a'], 'retry: 2000\n\n']);
  streams.stop();
});

test('event streams: values that a reader has not read are not delivered once its key is no longer valid', async () => {
  const streams = streamsOf();
  const feed: Feed = {
    subscribe(push) {
      push('unread');
      return () => undefined;
    },
  };
  const stream = streams.open({ accountId: 'a', isValid: async () => false }, feed);
  await streams.recheck('a');
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await vi.waitFor(() => expect(streams.openCount).toBe(0));
  expect(text).toBe('');
});

test('event streams: if all streams are taken, the account with the most streams makes room for an account with fewer', async () => {
  const streams = createEventStreams({ streamsMax: 4, streamsOfAccountMax: 3, keepAliveMs });
  const open = (accountId: string) => {
    const stream = streams.open({ accountId, isValid: async () => true }, quiet);
    stream.resume();
    return stream;
  };
  const [first, , newest] = [open('greedy'), open('greedy'), open('greedy')];
  open('other');
  expect(() => open('greedy')).toThrow(/4 live views are open/);
  const late = open('late');
  await vi.waitFor(() => expect(newest?.destroyed).toBe(true));
  expect([first.destroyed, late.destroyed, streams.openCount]).toEqual([false, false, 4]);
  // The largest account has two streams and the others have one, which is less than the required difference of two.
  for (const account of ['greedy', 'other', 'late']) expect(() => open(account)).toThrow(/4 live views are open/);
});
