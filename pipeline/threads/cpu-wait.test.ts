import { Worker } from 'node:worker_threads';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { cpuWaitMs, ownTaskId } from './cpu-wait.ts';

test.runIf(process.platform === 'linux')(
  'cpu wait: each thread has a number of its own, and has waited so long',
  async () => {
    const worker = new Worker(
      `require('node:worker_threads').parentPort.postMessage(require('node:fs').readlinkSync('/proc/thread-self'))`,
      { eval: true },
    );
    const [link] = (await once(worker, 'message')) as [string];
    expect(ownTaskId()).toBeGreaterThan(0);
    expect(link).not.toContain(`/task/${ownTaskId()}`);
    expect(cpuWaitMs(ownTaskId())).toBeGreaterThanOrEqual(0);
    await worker.terminate();
  },
);

test('cpu wait: of a thread nobody knows it is nothing', () => {
  expect([cpuWaitMs(undefined), cpuWaitMs(-1)]).toEqual([0, 0]);
});
