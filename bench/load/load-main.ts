import { closedLoop } from './closed-loop.ts';
import type { PoolOptions } from './connection-pool.ts';
import { postRequest } from './http-connection.ts';
import type { LoadMessage, LoadOrder } from './load-process.ts';
import type { LoopTiming } from './measure-windows.ts';
import { openLoop } from './open-loop.ts';

const visitorsByDefault = 5_000;
const tell = (message: LoadMessage): void => void process.send?.(message);

process.once('message', (order: LoadOrder) => {
  const url = new URL(order.url);
  const options: PoolOptions = {
    url,
    requests: order.bodies.map((body) => postRequest(url, body, order.headers)),
    connections: order.connections,
    visitors: order.visitors ?? visitorsByDefault,
    sequenceFrom: order.sequenceFrom,
  };
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
  const { ratePerS, givesUpAfterMs } = order;
  const running =
    ratePerS === undefined ? closedLoop(options, timing) : openLoop(options, { ratePerS, givesUpAfterMs }, timing);
  void running.then((result) => tell({ kind: 'result', result }));
});
