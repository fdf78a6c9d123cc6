import { closedLoop } from './closed-loop.ts';
import type { PoolOptions } from './connection-pool.ts';
import { postRequest } from './http-connection.ts';
import type { LoadMessage, LoadOrder } from './load-process.ts';
import type { LoopTiming } from './measure-windows.ts';
import type { LoadResult } from './load-result.ts';
import { openLoop } from './open-loop.ts';

const visitorsByDefault = 5_000;
const tell = (message: LoadMessage): void => void process.send?.(message);

const poolTo = (address: string, order: LoadOrder): PoolOptions => {
  const url = new URL(address);
  return {
    url,
    requests: order.bodies.map((body) => postRequest(url, body, order.headers)),
    connections: order.connections,
    visitors: order.visitors ?? visitorsByDefault,
    sequenceFrom: order.sequenceFrom,
  };
};

async function run(order: LoadOrder): Promise<LoadResult> {
  const ending = new AbortController();
  process.once('message', () => ending.abort());
  const timing: LoopTiming = {
    warmUpMs: order.warmUpMs,
    warmUpMaxMs: order.warmUpMaxMs,
    measureMs: order.measureMs,
    ending: ending.signal,
    onMeasuring: () => tell({ kind: 'measuring' }),
    onWindow: (window) => tell({ kind: 'window', window }),
  };
  const { rehearsal, ratePerS, givesUpAfterMs } = order;
  if (rehearsal !== undefined) await closedLoop(poolTo(rehearsal.url, order), { warmUpMs: 0, measureMs: rehearsal.ms });
  const options = poolTo(order.url, order);
  if (ratePerS === undefined) return closedLoop(options, timing);
  return openLoop(options, { ratePerS, givesUpAfterMs }, timing);
}

// Keeps the process running until its order arrives: a listener alone does so in Node 20, but not in newer versions.
process.channel?.ref();
process.once('message', (order: LoadOrder) => {
  void run(order).then((result) => tell({ kind: 'result', result }));
});
