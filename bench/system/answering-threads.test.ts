import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { followThreads } from './answering-threads.ts';

test('threads: a thread that has ended is not waited for, even if its report arrives afterwards', async () => {
  const before = process.listeners('worker');
  const threads = followThreads();
  onTestFinished(() => {
    for (const one of process.listeners('worker')) if (!before.includes(one)) process.off('worker', one);
  });
  const worker = new Worker('setInterval(() => undefined, 1_000)', { eval: true });
  const { threadId } = worker;
  await once(worker, 'online');
  threads.add(threadId);
  expect(threads.areAllOf(new Set())).toBe(false);
  expect(threads.areAllOf(new Set([threadId]))).toBe(true);
  await worker.terminate();
  expect(threads.areAllOf(new Set())).toBe(true);
  threads.add(threadId);
  expect(threads.areAllOf(new Set())).toBe(true);
});
