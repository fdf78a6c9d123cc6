import { expect, test } from 'vitest';
import { TooManyWaitingError, batchCalls } from './batch-calls.ts';

test('batch: calls made in the same turn share batches, and each call has its own result', async () => {
  const batches: number[][] = [];
  const double = batchCalls(
    async (items: readonly number[]) => {
      batches.push([...items]);
      return items.map((item) => item * 2);
    },
    { itemsMax: 3, batchesMax: 2, waitingMax: 10 },
  );
  expect(await Promise.all([1, 2, 3, 4].map(double))).toEqual([2, 4, 6, 8]);
  expect(batches).toEqual([[1, 2, 3], [4]]);
});

test('batch: calls in flight and waiting calls are limited, and waiting calls come next', async () => {
  const releases: (() => void)[] = [];
  const call = batchCalls(
    async (items: readonly string[]) => {
      await new Promise<void>((resolve) => releases.push(resolve));
      return items;
    },
    { itemsMax: 10, batchesMax: 1, waitingMax: 2 },
  );
  const first = call('first');
  await expect.poll(() => releases.length, { timeout: 30_000 }).toBe(1);
  const others = [call('second'), call('third')];
  await expect(call('one more')).rejects.toThrow(TooManyWaitingError);
  releases[0]?.();
  expect(await first).toBe('first');
  await expect.poll(() => releases.length, { timeout: 30_000 }).toBe(2);
  releases[1]?.();
  expect(await Promise.all(others)).toEqual(['second', 'third']);
});

test('batch: a failure fails all calls of its batch, and later calls still work', async () => {
  let fails = true;
  const call = batchCalls(
    async (items: readonly string[]) => {
      if (fails) throw new Error('away');
      return items;
    },
    { itemsMax: 10, batchesMax: 1, waitingMax: 10 },
  );
  const results = await Promise.allSettled([call('a'), call('b')]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  fails = false;
  expect(await call('c')).toBe('c');
});
