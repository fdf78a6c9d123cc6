import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { limitConnections } from './connection-limits.ts';
import type { ConnectionLimits, ConnectionLimitsOptions } from './connection-limits.ts';

/** Starts a server with these limits. `open` returns undefined if the server closes the connection. */
async function start(options: ConnectionLimitsOptions): Promise<{
  readonly limits: ConnectionLimits;
  open(from: string): Promise<Socket | undefined>;
}> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('hello');
  });
  const limits = limitConnections(server, options);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets: Socket[] = [];
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return {
    limits,
    async open(from) {
      const socket = connect({ port, host: '127.0.0.1', localAddress: from });
      sockets.push(socket);
      return new Promise((resolve) => {
        socket.on('error', () => undefined);
        socket.once('data', () => resolve(socket));
        socket.once('close', () => resolve(undefined));
      });
    },
  };
}

test('connections: each address has its own limit, except a proxy’s, and a closed connection makes room', async () => {
  const { limits, open } = await start({ connectionsMax: 10, ofAddressMax: 2, isProxy: (one) => one === '127.0.0.9' });
  const first = await open('127.0.0.1');
  expect(first).toBeDefined();
  expect(await open('127.0.0.1')).toBeDefined();
  expect(await open('127.0.0.1')).toBeUndefined();
  expect(await open('127.0.0.2')).toBeDefined();
  for (let n = 0; n < 3; n += 1) expect(await open('127.0.0.9')).toBeDefined();
  expect(limits.refused).toBe(1);
  first?.destroy();
  await expect.poll(() => open('127.0.0.1'), { timeout: 10_000 }).toBeDefined();
});

test('connections: all addresses together have a limit, including proxies', async () => {
  const { limits, open } = await start({ connectionsMax: 2, ofAddressMax: 2, isProxy: () => true });
  expect([await open('127.0.0.1'), await open('127.0.0.2')]).not.toContain(undefined);
  expect(await open('127.0.0.3')).toBeUndefined();
  expect(limits.refused).toBe(1);
});
