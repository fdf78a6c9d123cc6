import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

/** A listener with a full queue. Handshakes complete a second or more after they began, once `accept` was called. */
export async function listenSlowly(): Promise<{ readonly port: number; accept(): void }> {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const code = `
    const { workerData, parentPort } = require('node:worker_threads');
    const server = require('node:http').createServer((request, response) => response.writeHead(204).end());
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      setImmediate(() => Atomics.wait(workerData, 0, 0));
    });`;
  const worker = new Worker(code, { eval: true, workerData: shared });
  const port = await new Promise<number>((resolve) => {
    worker.once('message', resolve);
  });
  const sockets: Socket[] = [];
  const accept = (): void => {
    Atomics.store(shared, 0, 1);
    Atomics.notify(shared, 0);
  };
  onTestFinished(async () => {
    accept();
    for (const socket of sockets) socket.destroy();
    await worker.terminate();
  });
  // The queue is full once two connections are still connecting.
  while (sockets.filter(({ connecting }) => connecting).length < 2) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    sockets.push(socket);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return { port, accept };
}
