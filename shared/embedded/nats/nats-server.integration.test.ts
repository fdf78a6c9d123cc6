import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';

import { type Bucket, openBucket } from '../../nats/buckets/bucket.ts';
import { connectLog } from '../../nats/connection/connection.ts';
import { createNatsFolder, natsBinaryPath, startTestNats } from '../../testing/servers.ts';
import { findFreePort } from '../machine/free-port.ts';
import { endLeftNatsServer, type NatsServer, type NatsServerOptions } from './nats-server.ts';
import { readProcessFacts } from '../../runtime/process-facts.ts';
import { leaveServerBehind } from '../../testing/leave-server-behind.ts';

const ended: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const end of ended.splice(0).toReversed()) {
    await end();
  }
});

test('nats server: acknowledged data is there after a kill and a start on the same folder and port', async () => {
  const storeDir = await createNatsFolder();
  const first = await start({ storeDir });
  const bucket = await open(first);
  await bucket.put('key', Buffer.from('value'));
  await first.kill();
  expect(await first.exited).toEqual({ code: null, signal: 'SIGKILL' });
  const second = await start({ storeDir, port: first.port, monitorPort: first.monitorPort });
  expect(second.url).toBe(first.url);
  expect(second.pid).not.toBe(first.pid);
  const found = await (await open(second)).get('key');
  expect(Buffer.from(found?.value ?? []).toString()).toBe('value');
});

test('nats server: accepts payloads of 8 MiB and reports on its monitor that it is healthy', async () => {
  const server = await start({ syncAlways: true });
  const status = (await (await fetch(`${server.monitorUrl}/varz`)).json()) as Record<string, unknown>;
  expect(status['max_payload']).toBe(8 * 1024 * 1024);
  expect(status['jetstream']).toMatchObject({ config: { sync_always: true } });
  expect(await (await fetch(`${server.monitorUrl}/healthz`)).json()).toEqual({ status: 'ok' });
});

test('nats server: a second start on the folder of a running server is an error', async () => {
  const storeDir = await createNatsFolder();
  await start({ storeDir });
  await expect(start({ storeDir })).rejects.toMatchObject({ code: 'folder_in_use' });
});

test('nats server: a busy port is an error that names the port, and the folder is released', async () => {
  const storeDir = await createNatsFolder();
  const port = await findFreePort();
  const occupant = createServer().listen(port, '127.0.0.1');
  await once(occupant, 'listening');
  await expect(start({ storeDir, port })).rejects.toThrow(`port ${port}, wanted for nats-server, is in use`);
  occupant.close();
  await once(occupant, 'close');
  expect((await start({ storeDir, port })).port).toBe(port);
});

test('nats server: if the server ends while starting, the error has its last lines', async () => {
  const storeDir = await createNatsFolder();
  await writeFile(join(storeDir, 'jetstream'), 'a file where the server wants a folder');
  await expect(start({ storeDir })).rejects.toThrow(
    /nats-server ended while starting \(exit code 1\).*Can't start JetStream/s,
  );
  expect(await readdir(storeDir)).not.toContain('owner');
});

test('nats server: a server left running by a killed process is ended by the next start, which gets its port', async () => {
  const storeDir = await createNatsFolder();
  const options = { binaryPath: await natsBinaryPath(), storeDir, port: await findFreePort() };
  await leaveServerBehind(new URL('nats-server.ts', import.meta.url), 'startNatsServer', options);
  const left = await readProcessFacts(Number(await readFile(join(storeDir, 'nats-server.pid'), 'utf8')));
  expect(left?.command.join(' ')).toContain(storeDir);
  await start(options);
  expect(await readProcessFacts(left?.pid ?? 0)).toBeUndefined();
});

test('nats server: a server left running by a killed process can be ended without a start', async () => {
  const storeDir = await createNatsFolder();
  await endLeftNatsServer(storeDir);
  await leaveServerBehind(new URL('nats-server.ts', import.meta.url), 'startNatsServer', {
    binaryPath: await natsBinaryPath(),
    storeDir,
  });
  const pid = Number(await readFile(join(storeDir, 'nats-server.pid'), 'utf8'));
  expect(await readProcessFacts(pid)).toBeDefined();
  await endLeftNatsServer(storeDir);
  expect(await readProcessFacts(pid)).toBeUndefined();
});

async function start(options: Partial<NatsServerOptions>): Promise<NatsServer> {
  const server = await startTestNats(options);
  ended.push(() => server.stop());
  return server;
}

async function open(server: NatsServer): Promise<Bucket> {
  const log = await connectLog({ url: server.url, name: 'test' });
  ended.push(() => log.close());
  return openBucket(log, { name: 'TEST', replicas: 1, bytesMax: 1_000_000 });
}
