import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { queuedBytes } from '../../gateway/ingest/backpressure.ts';
import { startGatewayHere } from '../../gateway/testing/gateway-here.ts';
import type { GatewayUnderTest } from '../../gateway/testing/gateway-here.ts';
import { createPipelineRig } from '../../pipeline/testing/pipeline-rig.ts';
import type { PipelineRig } from '../../pipeline/testing/pipeline-rig.ts';
import { allBackpressure, decodeBackpressure } from '../../shared/contracts/backpressure.ts';
import { hashSourceKey } from '../../shared/contracts/config/account-config.ts';
import { allIngest, ingestOfAccount, resolverConsumer } from '../../shared/contracts/subjects.ts';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import type { Bucket } from '../../shared/nats/buckets/bucket.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { countBySubject } from '../../shared/nats/messages/subject-log.ts';
import { readConsumerProgress, readStreamState } from '../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { migrate } from '../../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../../shared/testing/servers.ts';
import type { TestDatabase } from '../../shared/testing/servers.ts';
import { putAccountConfig } from '../../shared/testing/put-account-config.ts';
import { testAccountConfig } from '../../shared/testing/test-account-config.ts';

const capacity = 8 * 1024 ** 2;
const log = { LOG_PARTITIONS: '1', LOG_INGEST_BYTES_MAX: String(capacity) };
const stuck = { accountId: randomUUID(), token: 'src_live_stuck_account_0123456789' };
const busy = { accountId: randomUUID(), token: 'src_live_busy_account_01234567890' };
/** Key of the PostgreSQL advisory lock that writes to the stuck account's visitors wait for. */
const advisoryLock = 4_711;
const batchEvents = 10;
const batchBytes = 100_000;
/** Few batches are sent at a time, so that all accounts together stay below the share of INGEST that they may fill. */
const batchesAtATime = 2;
/** Batches of an account's queue that the resolver reads before their visitors can be written: 256 KiB. */
const readBatchesMax = 4;
const settle = { timeout: 60_000, interval: 50 };

let nats: NatsServer;
let database: TestDatabase;
let operator: Client;

beforeAll(async () => {
  [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  await migrate(database.url);
  operator = new Client({ connectionString: database.url });
  await operator.connect();
  await operator.query(`
    create function wait_for_operator() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(${advisoryLock}); return new; end $$;
    create trigger wait_for_operator before insert on visitors for each row
      when (new.account_id = '${stuck.accountId}') execute function wait_for_operator()`);
}, 60_000);
afterAll(async () => {
  await operator?.end();
  await nats?.stop();
  await database?.drop();
});

async function openRig(): Promise<PipelineRig> {
  const rig = await createPipelineRig(nats.url, database.url, {
    ...log,
    // The minimum, so that a small backlog already exceeds what a partition may hold.
    RESOLVER_WAITING_BYTES_MAX: String(1024 ** 2),
    DATABASE_STATEMENT_TIMEOUT_MS: '600000',
  });
  onTestFinished(() => rig.close());
  const buckets = await openBuckets(rig.connection, 1);
  for (const { accountId, token } of [stuck, busy]) {
    const source = { id: accountId, name: 'source', type: 'NodejsApi', status: 'Enabled' };
    const sourceKeys = [{ keyHash: hashSourceKey(token), sourceId: accountId, test: false }];
    const published = testAccountConfig({ sources: [source] }, { accountId, sourceKeys });
    await putAccountConfig(buckets, published);
  }
  return rig;
}

async function openGateway(): Promise<GatewayUnderTest> {
  const limits = { RATE_LIMIT_EVENTS_PER_S: '1000000', RATE_LIMIT_BYTES_PER_S: '1000000000' };
  const gateway = await startGatewayHere(nats.url, { ...log, ...limits }, { makesLog: false });
  onTestFinished(() => gateway.stop());
  return gateway;
}

type Answer = { readonly status: number; readonly body: unknown };

const sendBatch = async (gateway: GatewayUnderTest, account: typeof stuck): Promise<number> =>
  (await answerTo(gateway, account)).status;

async function answerTo({ url }: GatewayUnderTest, { token }: typeof stuck): Promise<Answer> {
  const eventProperties = { text: 'x'.repeat(batchBytes / batchEvents) };
  const events = Array.from({ length: batchEvents }, () => ({ event: 'a', distinctId: randomUUID(), eventProperties }));
  const answer = await fetch(`${url}/api/v1/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, events }),
  });
  const body: unknown = await answer.json();
  return { status: answer.status, body };
}

const ingestBytes = async ({ connection }: PipelineRig): Promise<number> =>
  (await readStreamState(connection, streams.ingest)).bytes;

/** Bytes of an account's queue by the pipeline's last report. */
async function queuedOf(leases: Bucket, { accountId }: typeof stuck): Promise<number> {
  const entries = await Promise.all((await leases.keys(allBackpressure)).map((key) => leases.get(key)));
  return queuedBytes(entries.flatMap((entry) => decodeBackpressure(entry?.value) ?? [])).get(accountId) ?? 0;
}

/** Waits until the resolver has taken all frames and the resolved frames are removed. */
async function settled({ connection }: PipelineRig): Promise<void> {
  await expect
    .poll(async () => {
      const { waiting = 1 } = (await readConsumerProgress(connection, streams.ingest, resolverConsumer(0))) ?? {};
      const { bytes } = await readStreamState(connection, streams.ingest);
      return { waiting, isFilling: bytes > capacity * 0.65 };
    }, settle)
    .toEqual({ waiting: 0, isFilling: false });
}

async function resolvedEvents({ metricsPort }: { readonly metricsPort: number }): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(/^sluice_resolver_resolved_total\{partition="0"\} (\d+)/m.exec(page)?.[1] ?? 0);
}

test('ingest quota: an account whose events are stuck in a queue gets 429, and a busy account whose events are resolved never does', async () => {
  const rig = await openRig();
  const gateway = await openGateway();
  const pipeline = await rig.start();
  onTestFinished(() => pipeline.stop());
  await operator.query('select pg_advisory_lock($1)', [advisoryLock]);
  const accepted = { stuck: 0, busy: 0 };
  const { leases } = await openBuckets(rig.connection, 1);
  // Gateways know the size of a queue from the pipeline's report, which comes later than the events are queued, and
  // does not include events that the resolver has read.
  const reported = (batches: number) =>
    expect.poll(() => queuedOf(leases, stuck), settle).toBeGreaterThan((batches - readBatchesMax) * batchBytes);
  let status = 200;
  for (let batch = 1; status === 200 && accepted.stuck < (2 * capacity) / batchBytes; batch += 1) {
    status = await sendBatch(gateway, stuck);
    if (status === 200) accepted.stuck += 1;
    if (batch % batchesAtATime > 0) continue;
    await settled(rig);
    if (accepted.stuck * batchBytes > capacity * 0.4) await reported(accepted.stuck);
  }
  expect(status).toBe(429);
  expect(accepted.stuck * batchBytes).toBeGreaterThan(capacity * 0.3);
  expect((await countBySubject(rig.connection, streams.ingest, allIngest)).get(ingestOfAccount(0, stuck.accountId))).toBeGreaterThan(0); // prettier-ignore
  // Twice as much as INGEST can hold.
  while (accepted.busy * batchBytes < 2 * capacity) {
    expect(await answerTo(gateway, busy)).toMatchObject({ status: 200 });
    accepted.busy += 1;
    if (accepted.busy % batchesAtATime > 0) continue;
    await settled(rig);
    expect(await ingestBytes(rig)).toBeLessThan(capacity * 0.8);
    if ((await sendBatch(gateway, stuck)) !== 200) continue;
    accepted.stuck += 1;
    await reported(accepted.stuck);
  }
  // The total stays near the quota of 50 %.
  expect(accepted.stuck * batchBytes).toBeLessThan(capacity * 0.6);
  // Another gateway, which has stored nothing of the stuck account, refuses its events, too.
  const another = await openGateway();
  await expect.poll(() => sendBatch(another, { ...stuck }), settle).toBe(429);
  expect(await sendBatch(another, busy)).toBe(200);
  accepted.busy += 1;
  await operator.query('select pg_advisory_unlock($1)', [advisoryLock]);
  await expect.poll(async () => (await sendBatch(gateway, stuck)) === 200, settle).toBe(true);
  accepted.stuck += 1;
  await expect
    .poll(() => resolvedEvents(pipeline), settle)
    .toBeGreaterThanOrEqual((accepted.stuck + accepted.busy) * batchEvents);
  await expect
    .poll(
      async () =>
        (await countBySubject(rig.connection, streams.ingest, allIngest)).has(ingestOfAccount(0, stuck.accountId)),
      settle,
    ) // prettier-ignore
    .toBe(false);
}, 240_000);
