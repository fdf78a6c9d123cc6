import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { backpressureKey, decodeBackpressure } from '../shared/contracts/backpressure.ts';
import type { NatsServer } from '../shared/embedded/nats/nats-server.ts';
import { openBuckets } from '../shared/nats/buckets/open-buckets.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../shared/testing/servers.ts';
import type { TestDatabase } from '../shared/testing/servers.ts';
import { httpEntity } from './testing/account-config.ts';
import { numbered, openRig, startOn } from './testing/open-rig.ts';
import type { PipelineRig } from './testing/pipeline-rig.ts';
import { until } from '../shared/testing/until.ts';

let nats: NatsServer;
let database: TestDatabase;

beforeAll(async () => {
  [nats, database] = await Promise.all([startTestNats(), createTestDatabase()]);
  await migrate(database.url);
});
afterAll(async () => {
  await nats?.stop();
  await database?.drop();
});

/** Ids of the accounts that the pipeline reports as late now. */
async function toldOf({ connection }: PipelineRig): Promise<string[]> {
  const { leases } = await openBuckets(connection, 1);
  const entry = await leases.get(backpressureKey('test'));
  return (decodeBackpressure(entry?.value)?.accounts ?? []).map(([accountId]) => accountId);
}

const ageOf = async (metricsPort: number, destinationId: string): Promise<number> => {
  const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  const series = `sluice_dispatcher_undelivered_age_seconds{destination_id="${destinationId}"} `;
  return Number(
    page
      .split('\n')
      .find((line) => line.startsWith(series))
      ?.slice(series.length) ?? 0,
  );
};

test('backpressure: only an account whose events wait for a slow destination is reported, until they have arrived', async () => {
  const { rig, sink } = await openRig(nats.url, database.url, { BACKPRESSURE_AGE_MAX_MS: '1500' });
  const [slow, quick, down] = [randomUUID(), randomUUID(), randomUUID()];
  let isSlow = true;
  sink.answer(({ path }) => {
    if (path === '/down') return 503;
    return path === '/slow' && isSlow ? { status: 200, delayMs: 20_000 } : 200;
  });
  await rig.configure(slow, { destinations: [httpEntity(randomUUID(), `${sink.url}/slow`)] });
  await rig.configure(quick, { destinations: [httpEntity(randomUUID(), `${sink.url}/quick`)] });
  await rig.configure(down, { destinations: [httpEntity(randomUUID(), `${sink.url}/down`)] });
  await startOn(rig);
  // Accepted after the start, so that no event is late at first: a backlog from before the start would get time to
  // catch up.
  for (const account of [slow, quick, down]) await rig.accept(account, numbered(0, 400));
  await until('the events of the quick account arrived', () => new Set(sink.taken('/quick')).size === 400);
  // Polls, because on a busy machine the events of the other accounts may also be late for a moment.
  await expect.poll(() => toldOf(rig), { timeout: 60_000 }).toEqual([slow]);
  isSlow = false;
  await until('all arrived', () => new Set(sink.taken('/slow')).size === 400);
  await until('no account is reported', async () => (await toldOf(rig)).length === 0);
});

test('backpressure: when it is off, no account is reported, but the age of waiting events is still in the metrics', async () => {
  const { rig, sink } = await openRig(nats.url, database.url);
  const [account, destination] = [randomUUID(), randomUUID()];
  sink.answer(() => ({ status: 200, delayMs: 20_000 }));
  await rig.configure(account, { destinations: [httpEntity(destination, sink.url)] });
  const { metricsPort } = await startOn(rig);
  await rig.accept(account, numbered(0, 10));
  await until('its events wait', async () => (await ageOf(metricsPort, destination)) > 3);
  expect(await toldOf(rig)).toEqual([]);
});
