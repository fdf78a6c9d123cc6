import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { leaveServerBehind } from '../../testing/leave-server-behind.ts';
import { findFreePort } from '../machine/free-port.ts';
import { choosePostgresAccount } from './postgres-account.ts';
import { endLeftPostgresServer, type PostgresServer, startPostgresServer } from './postgres-server.ts';
import { readProcessFacts } from '../../runtime/process-facts.ts';

const isRoot = process.getuid?.() === 0;
const running = new Set<PostgresServer>();
let folder: string;
let dataDir: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-postgres-'));
  await chmod(folder, 0o711);
  dataDir = join(folder, 'data');
});

afterEach(async () => {
  for (const server of running) {
    await server.stop();
  }
  running.clear();
  await endLeftPostgresServer(dataDir);
  await rm(await realpath(dataDir).catch(() => dataDir), { recursive: true, force: true });
  await rm(folder, { recursive: true, force: true });
});

test('postgres server: rows are there after a stop and after a kill, with the same password', async () => {
  const first = await start({});
  expect(new URL(first.url).pathname).toBe('/sluice');
  await query(first.url, 'CREATE TABLE kept (number int); INSERT INTO kept VALUES (1)');
  await first.stop();
  const second = await start({ port: first.port });
  expect(second.url).toBe(first.url);
  await query(second.url, 'INSERT INTO kept VALUES (2)');
  await second.kill();
  expect((await second.exited).signal).toBe('SIGKILL');
  const third = await start({ port: first.port });
  expect(await query(third.url, 'SELECT number FROM kept ORDER BY number')).toEqual([{ number: 1 }, { number: 2 }]);
});

test('postgres server: runs as an ordinary account with a password that no other account can read', async () => {
  const server = await start({});
  const password = await stat(join(server.home, 'password'));
  expect(password.mode & 0o077).toBe(0);
  expect((await stat(join(server.home, 'cluster'))).uid === 0).toBe(false);
  const wrong = new URL(server.url);
  wrong.password = 'wrong';
  await expect(query(wrong.href, 'SELECT 1')).rejects.toThrow('password authentication failed');
});

test('postgres server: makes databases, any number of times', async () => {
  const server = await start({});
  const url = await server.createDatabase('odd "name"');
  expect(await server.createDatabase('odd "name"')).toBe(url);
  expect(await query(url, 'SELECT current_database() AS name')).toEqual([{ name: 'odd "name"' }]);
});

test('postgres server: a pid file whose id now belongs to another process does not prevent the start', async () => {
  const first = await start({});
  await first.kill();
  const cluster = join(first.home, 'cluster');
  const { uid, gid } = await stat(cluster);
  const other = spawn('sleep', ['60'], isRoot ? { uid, gid } : {});
  await once(other, 'spawn');
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n');
  await writeFile(join(cluster, 'postmaster.pid'), [String(other.pid), ...lines.slice(1)].join('\n'));
  try {
    expect(await query((await start({})).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  } finally {
    other.kill('SIGKILL');
  }
});

test('postgres server: a second start on the data of a running server is an error', async () => {
  await start({});
  await expect(start({})).rejects.toMatchObject({ code: 'folder_in_use' });
});

test('postgres server: a busy port is an error that names the port', async () => {
  const port = await findFreePort();
  const occupant = createServer().listen(port, '127.0.0.1');
  await once(occupant, 'listening');
  await expect(start({ port })).rejects.toThrow(`port ${port}, wanted for PostgreSQL, is in use`);
  occupant.close();
});

test('postgres server: a server left running by a killed process is ended by the next start, which gets its port', async () => {
  const port = await findFreePort();
  const module = new URL('postgres-server.ts', import.meta.url);
  const leftPid = await leaveServerBehind(module, 'startPostgresServer', { dataDir, port, durable: false });
  expect((await readProcessFacts(leftPid))?.command.join(' ')).toContain(dataDir);
  const server = await start({ port });
  expect(await readProcessFacts(leftPid)).toBeUndefined();
  expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('postgres server: if a start was killed while it created the data, the next start creates it', async () => {
  await mkdir(join(dataDir, 'cluster.new', 'base'), { recursive: true });
  await writeFile(join(dataDir, 'password'), 'of another time\n');
  expect(await query((await start({})).url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(await readdir(dataDir)).not.toContain('cluster.new');
});

test('postgres server: a password file that does not fit the data is an error that says so', async () => {
  const server = await start({});
  await server.stop();
  await writeFile(join(dataDir, 'password'), 'another\n');
  await expect(start({})).rejects.toThrow('refuses the password kept beside its data');
});

test.runIf(isRoot)(
  'postgres server: root in a folder closed to others has its data elsewhere, found again',
  async () => {
    await chmod(folder, 0o700);
    const progress: string[] = [];
    const first = await start({ onProgress: (line) => progress.push(line) });
    expect(first.home).toMatch(/^\/var\/(lib|tmp)\/sluice-/);
    expect((await lstat(dataDir)).isSymbolicLink()).toBe(true);
    // The choice depends on which accounts the machine has.
    const account = (await choosePostgresAccount(join(first.home, 'cluster')))?.name;
    expect(progress).toEqual([
      `PostgreSQL's data are in ${first.home}: its account ${account} may not enter ${folder}`,
    ]);
    await query(first.url, 'CREATE TABLE kept (number int)');
    await first.stop();
    const second = await start({ onProgress: (line) => progress.push(line) });
    expect(second.home).toBe(first.home);
    expect(await query(second.url, 'SELECT * FROM kept')).toEqual([]);
    expect(progress).toHaveLength(1);
  },
);

async function start(options: Partial<Parameters<typeof startPostgresServer>[0]>): Promise<PostgresServer> {
  const server = await startPostgresServer({ dataDir, durable: false, ...options });
  running.add(server);
  void server.exited.then(() => running.delete(server));
  return server;
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
