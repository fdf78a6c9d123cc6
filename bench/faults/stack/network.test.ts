import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createNetwork } from './network.ts';
import type { Network } from './network.ts';

let echo: Server;
let port = 0;
let network: Network;
const opened: Socket[] = [];

beforeEach(async () => {
  echo = createServer((socket) => void socket.pipe(socket));
  echo.listen(0, '127.0.0.1');
  await once(echo, 'listening');
  const address = echo.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  network = createNetwork();
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await network.close();
  echo.close();
});

async function open(from: string): Promise<{ readonly socket: Socket; readonly heard: () => string }> {
  const socket = connect({ port: await network.relay(from, 'echo', port), host: '127.0.0.1' });
  opened.push(socket);
  let text = '';
  socket.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  await once(socket, 'connect');
  return { socket, heard: () => text };
}

test('network: a cut connection keeps its data until the cut is healed, and other connections go on', async () => {
  const [one, two] = [await open('one'), await open('two')];
  one.socket.write('before ');
  await expect.poll(one.heard).toBe('before ');
  const heal = network.trouble({ kind: 'cut' }, (from) => from === 'one');
  one.socket.write('kept');
  two.socket.write('free');
  await expect.poll(two.heard).toBe('free');
  // A connection opened during the cut is cut too.
  const late = await open('one');
  late.socket.write('late');
  expect([one.heard(), late.heard()]).toEqual(['before ', '']);
  heal();
  await expect.poll(one.heard).toBe('before kept');
  await expect.poll(late.heard).toBe('late');
});

test('network: the close of one end reaches the other end', async () => {
  const { socket, heard } = await open('one');
  socket.end('last');
  await once(socket, 'close');
  expect(heard()).toBe('last');
});

test('network: slow connections deliver everything, in order', async () => {
  const { socket, heard } = await open('one');
  const heal = network.trouble({ kind: 'slow', ms: 5 }, () => true);
  for (const number of [1, 2, 3, 4]) socket.write(`${number} `);
  await expect.poll(heard).toBe('1 2 3 4 ');
  heal();
});

test('network: the target of a relay is determined for each connection', async () => {
  const other = createServer((socket) => void socket.end('other'));
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  let to = port;
  const way = await network.relay('one', 'either', () => to);
  to = typeof address === 'object' && address !== null ? address.port : 0;
  const socket = connect({ port: way, host: '127.0.0.1' });
  opened.push(socket);
  const [heard] = (await once(socket.setEncoding('utf8'), 'data')) as [string];
  expect(heard).toBe('other');
  other.close();
});
