import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { client } from '../../../shared/nats/connection/client.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import { migrate } from '../../../shared/postgres/migrate.ts';
import { asLogUser } from '../../../shared/testing/as-log-user.ts';
import { createNatsFolder, createTestDatabase, startTestNats } from '../../../shared/testing/servers.ts';
import { resolvedBy } from '../../../shared/testing/visitors.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import { createVisitorStore } from '../../../shared/visitors/postgres-visitor-store.ts';
import { createVisitorPool } from '../../../shared/visitors/visitor-pool.ts';
import { createResolverRig, defaultSettings } from './testing/resolver-rig.ts';
import type { ResolverRig } from './testing/resolver-rig.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url);
});
afterAll(() => database?.drop());

const frames = 60;
const perFrame = 20;
const settings = { ...defaultSettings, ackWaitMs: 600, partEventsMax: 3 * perFrame, publishTimeoutMs: 500 };

async function fill(rig: ResolverRig): Promise<void> {
  for (let frame = 0; frame < frames; frame += 1) {
    const events = Array.from({ length: perFrame }, (_, n) => ({
      id: String(frame * perFrame + n),
      body: { event: 'E', externalId: `x${n % 7}`, userProperties: { last: frame * perFrame + n } },
    }));
    await rig.send(0, events);
  }
}

/** Expects every event exactly once in the log of the account, and the events of each visitor in order. */
async function expectExactlyOnce(rig: ResolverRig): Promise<void> {
  const written = await rig.written();
  const ids = written.map(({ event }) => Number(event.id));
  expect(ids.toSorted((a, b) => a - b)).toEqual(Array.from({ length: frames * perFrame }, (_, n) => n));
  const last = new Map<string, number>();
  for (const { event, visitor } of written) {
    expect(Number(event.id)).toBeGreaterThan(last.get(visitor.id) ?? -1);
    last.set(visitor.id, Number(event.id));
  }
  expect(last.size).toBe(7);
}

test('resolver: after repeated crashes, its successors lose no event and write no event twice', async () => {
  const nats = await startTestNats();
  const rig = await createResolverRig(nats.url, database.url);
  await fill(rig);
  // Each resolver loses the log and the database at the same moment, whatever it is doing, as if it were killed.
  for (let life = 0; life < 6; life += 1) {
    const connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: `life-${life}` });
    const store = createVisitorStore(rig.pool);
    let alive = true;
    const mortal = resolvedBy((touches) => (alive ? store.resolve(touches) : new Promise(() => undefined)));
    const resolver = await rig.start(0, { connection, visitors: mortal, settings });
    await vi.waitFor(() => expect(resolver.stats()['output_frames']).toBeGreaterThan(life % 3), {
      timeout: 45_000,
      interval: 1,
    });
    alive = false;
    await connection[client].nc.close();
    resolver.done.catch(() => undefined);
    void resolver.stop(0);
  }
  const survivor = await rig.start(0, { settings });
  await vi.waitFor(async () => expect(await rig.written()).toHaveLength(frames * perFrame), {
    timeout: 45_000,
    interval: 200,
  });
  await survivor.stop(5_000);
  await expectExactlyOnce(rig);
  await rig.close();
  await nats.stop();
});

test('resolver: goes on by itself when nats-server is killed and comes back', async () => {
  const storeDir = await createNatsFolder();
  const first = await startTestNats({ storeDir });
  const rig = await createResolverRig(first.url, database.url);
  await fill(rig);
  const resolver = await rig.start(0, { settings });
  await vi.waitFor(() => expect(resolver.stats()['output_frames']).toBeGreaterThan(2), {
    timeout: 45_000,
    interval: 1,
  });
  await first.kill();
  const second = await startTestNats({ storeDir, port: first.port });
  await vi.waitFor(() => expect(resolver.stats()['resolved']).toBe(frames * perFrame), { timeout: 45_000 });
  await resolver.stop(5_000);
  // The test has its own connection: a request made before that has reconnected would only wait for its deadline.
  await vi.waitFor(() => expect(rig.connection.connected).toBe(true), { timeout: 45_000 });
  await expectExactlyOnce(rig);
  await rig.close();
  await second.stop();
});

test('resolver: after a crash together with the only log server, its successor reads INGEST again and writes no event twice', async () => {
  const storeDir = await createNatsFolder();
  const first = await startTestNats({ storeDir });
  const rig = await createResolverRig(first.url, database.url);
  await fill(rig);
  const connection = await connectLog({ url: asLogUser(first.url, 'pipeline'), name: 'cut off' });
  const cutOff = await rig.start(0, { connection, settings });
  await vi.waitFor(() => expect(cutOff.stats()['output_frames']).toBeGreaterThan(2), { timeout: 45_000, interval: 1 });
  await connection[client].nc.close();
  cutOff.done.catch(() => undefined);
  void cutOff.stop(0);
  await first.kill();
  const second = await startTestNats({ storeDir, port: first.port });
  await vi.waitFor(() => expect(rig.pipelineConnection.connected).toBe(true), { timeout: 45_000 });
  const survivor = await rig.start(0, { settings });
  const done = (): number => (survivor.stats()['resolved'] ?? 0) + (survivor.stats()['duplicates'] ?? 0);
  await vi.waitFor(() => expect(done()).toBe(frames * perFrame), { timeout: 45_000 });
  expect(survivor.stats()['duplicates']).toBeGreaterThan(0);
  await survivor.stop(5_000);
  await vi.waitFor(() => expect(rig.connection.connected).toBe(true), { timeout: 45_000 });
  await expectExactlyOnce(rig);
  await rig.close();
  await second.stop();
});

test('resolver: goes on by itself when PostgreSQL ends its connections in the middle of a batch', async () => {
  const nats = await startTestNats();
  const rig = await createResolverRig(nats.url, database.url);
  await fill(rig);
  const admin = createVisitorPool({
    databaseUrl: database.url,
    connectionsMax: 2,
    name: 'admin',
    onIdleError: () => undefined,
  });
  const cut = async (): Promise<void> => {
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'test' and datname = current_database()`,
    );
  };
  // The first batch waits for this lock, so a cut certainly comes in the middle of it.
  const holder = await admin.connect();
  await holder.query('begin; lock table visitors in access exclusive mode');
  const resolver = await rig.start(0, { settings: { ...settings, partEventsMax: perFrame } });
  const untilRetried = async (): Promise<void> => {
    await cut();
    expect(resolver.stats()['visitor_retries']).toBeGreaterThan(0);
  };
  await vi.waitFor(untilRetried, { timeout: 45_000 });
  await holder.query('commit');
  holder.release();
  for (let cuts = 1; cuts < 20 && resolver.stats()['resolved'] !== frames * perFrame; cuts += 1) await cut();
  await vi.waitFor(() => expect(resolver.stats()['resolved']).toBe(frames * perFrame), { timeout: 45_000 });
  await resolver.stop(5_000);
  await expectExactlyOnce(rig);
  await admin.end();
  await rig.close();
  await nats.stop();
});
