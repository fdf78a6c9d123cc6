import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { NatsServer } from '../shared/embedded/nats/nats-server.ts';
import { ForeignLogError } from '../shared/nats/streams/topology.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../shared/testing/servers.ts';
import type { TestDatabase } from '../shared/testing/servers.ts';
import { httpEntity } from './testing/account-config.ts';
import { openRig, startOn } from './testing/open-rig.ts';
import { runAsProcess } from './testing/run-as-process.ts';
import { until } from '../shared/testing/until.ts';

let nats: NatsServer;
let database: TestDatabase;
let otherDatabase: TestDatabase;

beforeAll(async () => {
  [nats, database, otherDatabase] = await Promise.all([startTestNats(), createTestDatabase(), createTestDatabase()]);
  await Promise.all([migrate(database.url), migrate(otherDatabase.url)]);
});
afterAll(async () => {
  await nats?.stop();
  await Promise.all([database?.drop(), otherDatabase?.drop()]);
});

test('two stacks: a pipeline is refused if its INSTANCE_ID is in use by a live pipeline, which continues', async () => {
  const { rig, sink } = await openRig(nats.url, database.url);
  const account = randomUUID();
  await rig.configure(account, { destinations: [httpEntity(randomUUID(), sink.url)] });
  const first = await startOn(rig, 'local');
  await expect(rig.start('local')).rejects.toThrow(/INSTANCE_ID local: process \d+ on this machine is a live pipeline/);
  await rig.accept(account, [{ id: 'one' }]);
  await until('it goes on', () => sink.taken().includes('one'));
  await first.stop();
  // The INSTANCE_ID is free again.
  await (await startOn(rig, 'local')).stop();
});

test('two stacks: a pipeline that was killed leaves its INSTANCE_ID free', async () => {
  const { rig, sink } = await openRig(nats.url, database.url);
  const account = randomUUID();
  await rig.configure(account, { destinations: [httpEntity(randomUUID(), sink.url)] });
  const first = runAsProcess(rig, 'killed');
  await rig.accept(account, [{ id: 'one' }]);
  await until('it delivers', () => sink.taken().includes('one'));
  first.kill('SIGKILL');
  await first.ended;
  const next = await startOn(rig, 'killed');
  await rig.accept(account, [{ id: 'two' }]);
  await expect.poll(() => sink.taken()).toContain('two');
  await next.stop();
});

test('two stacks: a pipeline with the database of another deployment is refused', async () => {
  const { rig } = await openRig(nats.url, database.url);
  const first = await startOn(rig, 'a');
  const { rig: other } = await openRig(nats.url, otherDatabase.url);
  await expect(other.start('b')).rejects.toBeInstanceOf(ForeignLogError);
  await first.stop();
});

test('two stacks: a pipeline started on an unmigrated database ends once that database names another deployment', async () => {
  const { rig: own } = await openRig(nats.url, database.url);
  await (await startOn(own, 'c')).stop();
  const late = await createTestDatabase();
  onTestFinished(() => late.drop());
  // A database that is not migrated does not name its deployment yet.
  const { rig } = await openRig(nats.url, late.url);
  const pipeline = runAsProcess(rig, 'd');
  await until('it has started', async () => (await rig.instances()).includes('pipeline.d'));
  await migrate(late.url);
  const { code, log } = await pipeline.ended;
  expect(code).toBe(1);
  expect(log).toContain('two deployments on one log');
});
