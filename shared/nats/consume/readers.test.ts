import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pullExpiresMaxMs, pullExpiresMs } from './consumers.ts';
import { Readers } from './readers.ts';
import type { Reader } from './readers.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  for (const reader of added.splice(0)) reader.leave();
  vi.useRealTimers();
});

const added: Reader[] = [];
const nothing = (): void => undefined;
const add = (readers: Readers, isOneOfMany: boolean, look = nothing): Reader => {
  const reader = readers.add(isOneOfMany, look);
  added.push(reader);
  return reader;
};
const addMany = (readers: Readers, count: number): Reader[] => Array.from({ length: count }, () => add(readers, true));

test('readers: with few readers their requests wait the usual time, with many they wait longer, up to a maximum', () => {
  const readers = new Readers();
  const [first] = addMany(readers, 300);
  expect(first?.pullExpiresMs).toBe(pullExpiresMs);
  const more = addMany(readers, 300);
  expect(first?.pullExpiresMs).toBe(6_000);
  addMany(readers, 10_000);
  expect(first?.pullExpiresMs).toBe(pullExpiresMaxMs);
  expect(more[0]?.pullExpiresMs).toBe(pullExpiresMaxMs);
});

test('readers: requests of a reader without isOneOfMany wait the usual time, however many other readers there are', () => {
  const readers = new Readers();
  const one = add(readers, false);
  addMany(readers, 1_000);
  expect(one.pullExpiresMs).toBe(pullExpiresMs);
});

test('readers: readers that have left do not count, and each is subtracted only once', () => {
  const readers = new Readers();
  const [first, ...others] = addMany(readers, 900);
  for (const other of others) {
    other.leave();
    other.leave();
  }
  expect(first?.pullExpiresMs).toBe(pullExpiresMs);
});

test('readers: one timer checks every reader each half second, until the reader leaves', () => {
  const readers = new Readers();
  const looked: string[] = [];
  const [a, b] = ['a', 'b'].map((name) => add(readers, false, () => void looked.push(name)));
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(500);
  expect(looked).toEqual(['a', 'b']);
  a?.leave();
  vi.advanceTimersByTime(500);
  expect(looked).toEqual(['a', 'b', 'b']);
  b?.leave();
  expect(vi.getTimerCount()).toBe(0);
});
