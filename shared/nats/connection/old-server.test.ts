import { expect, onTestFinished, test } from 'vitest';
import { type GreetingServer, startGreetingServer } from '../../testing/greeting-server.ts';
import { connectLog } from './connection.ts';
import type { ConnectLogOptions, LogConnection } from './connection.ts';

async function greet(version: string): Promise<GreetingServer> {
  const server = await startGreetingServer(version);
  onTestFinished(() => server.close());
  return server;
}

async function connected(options: ConnectLogOptions): Promise<LogConnection> {
  const connection = await connectLog(options);
  onTestFinished(() => connection.close());
  return connection;
}

test('log connection: a server that is too old is refused at once, with the version and what to do', async () => {
  const { url } = await greet('2.14.5');
  const refused = connectLog({ url, name: 'test' });
  await expect(refused).rejects.toMatchObject({
    code: 'log_connect',
    message: expect.stringMatching(
      /^connecting to NATS at NATS_URL: nats-server 2\.14\.5 is older than 2\.15\.1.*power fails.*run 2\.15\.1 or newer.*127\.0\.0\.1/,
    ) as string,
  });
});

test('log connection: a caller that only reads may connect to a server that is too old, and learns the problem', async () => {
  const { url } = await greet('2.15.0');
  const connection = await connected({ url, name: 'test', acceptsOldServer: true });
  expect(connection.problem).toContain('nats-server 2.15.0 is older than 2.15.1');
});

test('log connection: replacement by an older server ends no connection, and is a problem until a newer server is back', async () => {
  const server = await greet('2.15.1');
  const connection = await connected({ url: server.url, name: 'test' });
  expect(connection.problem).toBeUndefined();
  const heard: (string | undefined)[] = [];
  connection.onReconnect(() => heard.push(connection.problem));
  server.replaceBy('2.10.27');
  await expect.poll(() => connection.problem).toBe('NATS at NATS_URL is not connected');
  await expect.poll(() => heard).toHaveLength(1);
  expect(heard[0]).toContain('nats-server 2.10.27 is older');
  expect(connection.connected).toBe(true);
  server.replaceBy('2.15.2');
  await expect.poll(() => heard).toHaveLength(2);
  expect(connection.problem).toBeUndefined();
});

test('log connection: a client never connects to further servers that its server announces', async () => {
  const named = await greet('2.15.1');
  const server = await startGreetingServer('2.15.1', { others: [new URL(named.url).host] });
  onTestFinished(() => server.close());
  const connection = await connected({ url: server.url, name: 'test' });
  for (let times = 1; times <= 5; times += 1) {
    server.replaceBy('2.15.1');
    await expect.poll(() => connection.reconnects).toBe(times);
  }
  expect({ known: server.connections, named: named.connections }).toEqual({ known: 6, named: 0 });
});
