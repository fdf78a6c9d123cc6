import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { Client } from 'pg';
import { expect, test } from 'vitest';

import { connectLog } from '../nats/connection/connection.ts';
import { readDeploymentId } from '../postgres/deployment-id.ts';
import { asLogUser } from './as-log-user.ts';
import { createTestDatabase, startTestNats } from './servers.ts';

test('startTestNats: gives a server of its own each time and leaves no folder', async () => {
  const [first, second] = await Promise.all([startTestNats(), startTestNats()]);
  expect(first.port).not.toBe(second.port);
  expect(await opens(first.port)).toBe(true);
  await Promise.all([first.stop(), second.stop()]);
  expect(await opens(first.port)).toBe(false);
  expect(existsSync(first.storeDir)).toBe(false);
});

test('startTestNats: stop fails if a service logged in as operator', async () => {
  const server = await startTestNats();
  const connections = await Promise.all([
    connectLog({ url: server.url, name: 'pipeline-one' }),
    connectLog({ url: asLogUser(server.url, 'pipeline'), name: 'pipeline-two' }),
    connectLog({ url: server.url, name: 'test' }),
  ]);
  await Promise.all(connections.map((connection) => connection.close()));
  await expect(server.stop()).rejects.toThrow(/logged in as operator.*: pipeline-one$/);
});

test('createTestDatabase: each database has a deployment id of its own', async () => {
  const databases = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const ids = await Promise.all(databases.map(({ url }) => readDeploymentId({ databaseUrl: url })));
  expect(new Set(ids).size).toBe(2);
  await Promise.all(databases.map((database) => database.drop()));
});

test('createTestDatabase: gives an empty database each time and drops it although a session is open', async () => {
  const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  const client = new Client({ connectionString: first.url });
  client.on('error', () => undefined);
  await client.connect();
  await client.query('CREATE TABLE here (id int)');
  const other = new Client({ connectionString: second.url });
  await other.connect();
  const tables = await other.query("SELECT 1 FROM pg_tables WHERE tablename = 'here'");
  expect(tables.rowCount).toBe(0);
  await other.end();
  await Promise.all([first.drop(), second.drop()]);
  await expect(new Client({ connectionString: first.url }).connect()).rejects.toThrow('does not exist');
});

function opens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
