import { closedLoop } from './closed-loop.ts';
import { postRequest } from './http-request.ts';
import type { LoadMessage, LoadOrder } from './load-process.ts';

const tell = (message: LoadMessage): void => void process.send?.(message);

process.once('message', (order: LoadOrder) => {
  const url = new URL(order.url);
  const requests = order.bodies.map((body) => postRequest(url, body));
  void closedLoop({
    url,
    requests,
    connections: order.connections,
    warmUpMs: order.warmUpMs,
    measureMs: order.measureMs,
    onProgress: (answersPerS) => tell({ kind: 'progress', answersPerS }),
  }).then((result) => {
    tell({ kind: 'result', result });
    process.disconnect();
  });
});
