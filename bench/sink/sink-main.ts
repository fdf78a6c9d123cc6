import { loadUws } from '../../gateway/http/uws.ts';
import { SinkCounts } from './sink-counts.ts';
import { slowGroup } from './sink-messages.ts';
import type { SinkRequest } from './sink-messages.ts';

/** A destination that counts requests, and responds immediately or, below `/slow`, after half a minute. */
const port = Number(process.argv[2]);
const slowMs = 30_000;
const answer = '{"received":true}';
const counts = new SinkCounts();
const { uws } = loadUws();
const now = (): number => performance.timeOrigin + performance.now();

uws
  .App()
  .any('/*', (response, request) => {
    const path = request.getUrl();
    let isAborted = false;
    response.onAborted(() => {
      isAborted = true;
    });
    const chunks: Buffer[] = [];
    const end = (): void => {
      if (isAborted) return;
      response.cork(() => response.writeHeader('content-type', 'application/json').end(answer));
    };
    response.onData((chunk, isLast) => {
      if (!isLast) {
        // The memory of the chunk is reused when this function returns.
        chunks.push(Buffer.from(chunk.slice(0)));
        return;
      }
      const last = Buffer.from(chunk);
      counts.count(path, chunks.length === 0 ? last : Buffer.concat([...chunks, last]), now());
      if (path.startsWith(`/${slowGroup}/`)) setTimeout(end, slowMs);
      else end();
    });
  })
  .listen('127.0.0.1', port, (socket) => {
    if (socket === false) throw new Error(`listening on ${port} failed`);
    process.send?.('ready');
  });

process.on('message', (message: SinkRequest) => {
  switch (message.kind) {
    case 'take':
      process.send?.(counts.take(now()));
      return;
    case 'latencies':
      process.send?.(counts.latenciesOf(message.group));
      return;
    case 'forget':
      counts.forget();
  }
});
