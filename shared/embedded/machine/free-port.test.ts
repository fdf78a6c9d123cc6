import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterEach, expect, test } from 'vitest';

import { assertPortFree, findFreePort, isPortFree } from './free-port.ts';

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.close();
    await once(server, 'close');
  }
});

test('free port: a server can listen on the port', async () => {
  const port = await findFreePort();
  await occupy(port, '127.0.0.1');
  expect(await isPortFree(port)).toBe(false);
});

test.each(['127.0.0.1', '0.0.0.0'])('free port: a port in use at %s is not free', async (host) => {
  const port = await findFreePort();
  await occupy(port, host);
  expect(await isPortFree(port)).toBe(false);
});

test('free port: the preferred port is used if it is free, and another port if not', async () => {
  const preferred = await findFreePort();
  expect(await findFreePort(preferred)).toBe(preferred);
  await occupy(preferred, '127.0.0.1');
  expect(await findFreePort(preferred)).not.toBe(preferred);
});

test('free port: the error of a busy port names the variable to change', async () => {
  const port = await findFreePort();
  await expect(assertPortFree(port, 'NATS_PORT')).resolves.toBeUndefined();
  await occupy(port, '127.0.0.1');
  await expect(assertPortFree(port, 'NATS_PORT')).rejects.toThrow(
    `port ${port} is in use by another program (EADDRINUSE); set NATS_PORT`,
  );
});

async function occupy(port: number, host: string): Promise<void> {
  const server = createServer();
  servers.push(server);
  server.listen(port, host);
  await once(server, 'listening');
}

test('free port: a port is not returned twice, so its caller may listen on it later', async () => {
  const ports = new Set<number>();
  for (let n = 0; n < 400; n += 1) ports.add(await findFreePort());
  expect(ports.size).toBe(400);
});
