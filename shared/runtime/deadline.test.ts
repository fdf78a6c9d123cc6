import { expect, test } from 'vitest';
import { withDeadline } from './deadline.ts';

const never = new Promise<never>(() => undefined);

test('deadline: waits for work that ends in time, and for other work no longer than the deadline', async () => {
  let isDone = false;
  const work = Promise.resolve().then(() => {
    isDone = true;
  });
  await withDeadline(work, 3_600_000);
  expect(isDone).toBe(true);
  await expect(withDeadline(never, 1)).resolves.toBeUndefined();
});

test('deadline: a failure in time is thrown, a late one is dropped', async () => {
  await expect(withDeadline(Promise.reject(new Error('away')), 3_600_000)).rejects.toThrow('away');
  let fail: (error: Error) => void = () => undefined;
  const work = new Promise<void>((_resolve, reject) => {
    fail = reject;
  });
  await withDeadline(work, 1);
  fail(new Error('late'));
  await expect(work).rejects.toThrow('late');
});
