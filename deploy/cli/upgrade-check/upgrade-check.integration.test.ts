import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import pg from 'pg';
import type { Finding } from '../../../shared/doctor/finding.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { holdProcessLease } from '../../../shared/nats/buckets/process-lease.ts';
import { openLeases } from '../../../shared/nats/buckets/open-buckets.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { ensureTopology, streams } from '../../../shared/nats/streams/topology.ts';
import { migrationList } from '../../../shared/postgres/migrations/migration-list.ts';
import { compiledPath, topFolder } from '../../../shared/runtime/compiled-path.ts';
import { version } from '../../../shared/runtime/version.ts';
import { asLogUser } from '../../../shared/testing/as-log-user.ts';
import { createTestDatabase, startTestNats } from '../../../shared/testing/servers.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import { testTopology } from '../../../shared/testing/test-topology.ts';
import { examineUpgrade } from './examine-upgrade.ts';

vi.setConfig({ testTimeout: 240_000 });
const deadlineMs = 60_000;
const migrateCommand = compiledPath(new URL('control-plane/migrate.ts', topFolder));
const topology = testTopology({ partitions: 2, streamBytesMax: 8 * 1024 ** 2 });

let nats: NatsServer;
let database: TestDatabase;
let connection: LogConnection;

beforeAll(async () => {
  [nats, database] = await Promise.all([startTestNats(), createTestDatabase({ isMigrated: false })]);
  connection = await connectLog({ url: nats.url, name: 'test' });
});

afterAll(async () => {
  await connection?.close();
  await nats?.stop();
  await database?.drop();
});

const told = (findings: readonly Finding[], about: string): string | undefined => {
  const found = findings.find((finding) => finding.about === about);
  return found === undefined ? undefined : `${found.level}: ${found.detail}`;
};
const examine = () =>
  examineUpgrade({ NATS_URL: asLogUser(nats.url, 'doctor'), DATABASE_URL: database.url }, deadlineMs);

test('upgrade-check: says what an upgrade will do, and changes nothing', async () => {
  const { jsm } = connection[client];
  const before = await examine();
  expect(told(before, 'versions')).toBe(`ok: this is ${version}; no gateway and no pipeline runs`);
  expect(told(before, 'log format')).toContain('ok: the log is empty');
  expect(told(before, 'stream INGEST')).toBe('warn: will be created');
  expect(told(before, 'schema')).toMatch(/^warn: will be applied.*0001/);
  // The check has changed nothing: there are still no streams.
  expect(await jsm.streams.list().next()).toEqual([]);

  const { stdout } = await promisify(execFile)(process.execPath, [migrateCommand, '--json'], {
    env: { PATH: process.env['PATH'], DATABASE_URL: database.url },
  });
  expect(JSON.parse(stdout)).toEqual({ newest: migrationList.at(-1)?.name, roles: [] });
  await ensureTopology(connection, topology);
  const lease = holdProcessLease(
    await openLeases(connection, topology.replicas),
    { kind: 'pipeline', instanceId: 'one' },
    (error) => {
      throw error;
    },
  );
  lease.report(1);
  await expect.poll(async () => told(await examine(), 'versions')).toContain(`running: pipeline ${version}`);
  const after = await examine();
  expect(told(after, 'log format')).toMatch(/^ok: 2, /);
  expect(told(after, 'schema')).toMatch(/^ok: /);
  // The streams were created with other limits than the environment now sets.
  expect(told(after, 'stream EVENTS')).toContain('warn: max_bytes is 8388608, this version expects');
  await lease.release();

  const { config } = await jsm.streams.info(streams.ingest);
  await jsm.streams.update(streams.ingest, { metadata: { ...config.metadata, 'sluice.format': '7' } });
  const pool = new pg.Client({ connectionString: database.url });
  await pool.connect();
  await pool.query(`insert into migrations (name) values ('9999-of-the-future')`);
  await pool.end();
  const newer = await examine();
  expect(told(newer, 'log format')).toMatch(/^fail: 7; this version reads up to 2/);
  expect(told(newer, 'schema')).toBe('warn: newer than this version: 9999-of-the-future');
});

test('upgrade-check: if this version would not start with the environment, only that is reported', async () => {
  const findings = await examineUpgrade({ NATS_URL: nats.url, LOG_PARTITIONS: 'many' }, deadlineMs);
  expect(findings).toHaveLength(1);
  expect(findings[0]).toMatchObject({ level: 'fail', about: 'environment' });
  expect(findings[0]?.detail).toContain('LOG_PARTITIONS');
});
