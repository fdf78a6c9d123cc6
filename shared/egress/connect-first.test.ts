import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { connectFirst } from './connect-first.ts';
import { listenSlowly } from './testing/slow-listener.ts';

const v4 = (address: string) => ({ address, family: 4 });
const v6 = (address: string) => ({ address, family: 6 });

/** A loopback address that refuses connections. */
const refusing = v4('127.0.0.2');
/** An address that never responds (RFC 5737), or that has no route. */
const dead = v4('192.0.2.1');

function race(
  addresses: readonly { readonly address: string; readonly family: number }[],
  port: number,
): Promise<string> {
  return new Promise((resolve) => {
    connectFirst(addresses, port, (...[error, socket]) => {
      if (error !== null) return resolve('code' in error ? String(error.code) : error.message);
      resolve(socket.remoteAddress ?? '');
      socket.destroy();
    });
  });
}

async function listen(host: string): Promise<{ readonly port: number; readonly connections: () => number }> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => undefined).on('data', () => undefined);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, host, resolve);
  });
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections: () => connections };
}

test.each([
  ['alone', []],
  ['beside one that refuses', [refusing]],
  ['beside one of another family that refuses', [v6('::1')]],
  ['beside one that is dead', [dead]],
  ['beside many that are dead', [dead, v4('192.0.2.2'), v4('192.0.2.3')]],
])('connect first: an address whose handshake takes a second is reached %s', async (_name, others) => {
  for (const order of ['first', 'last']) {
    const { port, accept } = await listenSlowly();
    const slow = v4('127.0.0.1');
    const reached = race(order === 'first' ? [slow, ...others] : [...others, slow], port);
    // After the delay before the second attempt, and before the system repeats the handshake's first packet.
    setTimeout(accept, 400);
    expect(await reached).toBe('127.0.0.1');
  }
});

test('connect first: an address that refuses is skipped at once, and after the first success no other connection is opened', async () => {
  const { port, connections } = await listen('127.0.0.1');
  expect(await race([refusing, v4('127.0.0.1'), v4('127.0.0.3')], port)).toBe('127.0.0.1');
  expect(await race([v4('127.0.0.1'), v4('127.0.0.1')], port)).toBe('127.0.0.1');
  await expect.poll(connections).toBe(2);
});

test('connect first: if all addresses fail, the error is the refusal, not that this machine has no route to one of them', async () => {
  expect(await race([refusing], 1)).toBe('ECONNREFUSED');
  expect(await race([v6('2001:db8::1'), refusing], 1)).toBe('ECONNREFUSED');
});

test('connect first: once stopped, it opens no further connection', async () => {
  const { port, connections } = await listen('127.0.0.1');
  const results: unknown[] = [];
  const stop = connectFirst([dead, v4('127.0.0.1')], port, (...result) => void results.push(result));
  stop();
  expect(await race([v4('127.0.0.1')], port)).toBe('127.0.0.1');
  await expect.poll(connections).toBe(1);
  expect(results).toEqual([]);
});

test('connect first: at most eight addresses are tried, from both families', async () => {
  const { port, connections } = await listen('127.0.0.9');
  const many = Array.from({ length: 20 }, () => refusing);
  expect(await race([...many, v4('127.0.0.9')], port)).toBe('ECONNREFUSED');
  expect(connections()).toBe(0);
  expect(await race([...many.slice(0, 7), v4('127.0.0.9')], port)).toBe('127.0.0.9');
  const six = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => {
    six.listen(0, '::1', resolve);
  });
  onTestFinished(() => void six.close());
  expect(await race([...many, v6('::1')], (six.address() as AddressInfo).port)).toBe('::1');
});
