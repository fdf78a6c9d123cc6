import { Worker } from 'node:worker_threads';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { cpuUseOf, ownTaskId } from './cpu-use.ts';

test.runIf(process.platform === 'linux')(
  'cpu use: each thread has its own task id, and the time it ran and waited is measured',
  async () => {
    const worker = new Worker(
      `require('node:worker_threads').parentPort.postMessage(require('node:fs').readlinkSync('/proc/thread-self'))`,
      { eval: true },
    );
    const [link] = (await once(worker, 'message')) as [string];
    expect(ownTaskId()).toBeGreaterThan(0);
    expect(link).not.toContain(`/task/${ownTaskId()}`);
    const { ranMs, waitedMs } = cpuUseOf(ownTaskId());
    expect(ranMs).toBeGreaterThan(0);
    expect(waitedMs).toBeGreaterThanOrEqual(0);
    for (let turns = 0; cpuUseOf(ownTaskId()).ranMs < ranMs + 5; turns += 1) expect(turns).toBeLessThan(10_000_000);
    await worker.terminate();
  },
);

test('cpu use: is zero for an unknown thread', () => {
  const nothing = { ranMs: 0, waitedMs: 0 };
  expect([cpuUseOf(undefined), cpuUseOf(-1)]).toEqual([nothing, nothing]);
});
