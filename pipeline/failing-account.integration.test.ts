import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../shared/embedded/nats/nats-server.ts';
import { retriesOfAll } from '../shared/contracts/subjects.ts';
import { countBySubject } from '../shared/nats/messages/subject-log.ts';
import { listConsumerProgress, readStreamState } from '../shared/nats/streams/stream-progress.ts';
import { streams } from '../shared/nats/streams/topology.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../shared/testing/servers.ts';
import type { TestDatabase } from '../shared/testing/servers.ts';
import { httpEntity } from './testing/account-config.ts';
import { openRig, startOn } from './testing/open-rig.ts';
import type { PipelineRig } from './testing/pipeline-rig.ts';
import { until } from '../shared/testing/until.ts';

const mebibyte = 1024 ** 2;
const retryBytesMax = mebibyte;
/** So small that the references of the failing account's retries fill it. */
const share = 0.05;
const destinations = 20;

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

/** Counts the frames of one destination in the retry log. */
async function retriesOf(rig: PipelineRig, destinationId: string): Promise<number> {
  const counts = await countBySubject(rig.connection, streams.retry, retriesOfAll);
  return [...counts].reduce((sum, [subject, count]) => sum + (subject.split('.')[1] === destinationId ? count : 0), 0);
}

const text = 'x'.repeat(2_000);
const events = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `${prefix}-${n}`, visitor: `${prefix}-${n}`, properties: { text } }));

test('failing account: however many of its destinations fail, the events of other accounts are delivered, retries included', async () => {
  const { rig, sink } = await openRig(nats.url, database.url, {
    LOG_RETRY_BYTES_MAX: String(retryBytesMax),
    LOG_EVENTS_BYTES_MAX: String(32 * mebibyte),
    LOG_INGEST_BYTES_MAX: String(32 * mebibyte),
    RETENTION_EVERY_MS: '500',
    LOG_ACCOUNT_SHARE_PERCENT: String(share * 100),
  });
  const [loud, quiet, busyDestination, wellDestination] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const failing = Array.from({ length: destinations }, () => randomUUID());
  let isOver = false;
  let requests = 0;
  // A destination that fails every other request keeps its breaker closed, and writes to the retry log all the time.
  sink.answer(({ path }) => {
    if (path === '/well') return 200;
    if (path === '/busy') return isOver ? 200 : 503;
    return (requests += 1) % 2 === 0 ? 200 : 503;
  });
  await rig.configure(loud, {
    destinations: failing.map((id) => httpEntity(id, `${sink.url}/failing`, { order: 'none' })),
  });
  await rig.configure(quiet, {
    destinations: [httpEntity(wellDestination, `${sink.url}/well`), httpEntity(busyDestination, `${sink.url}/busy`)],
  });
  await startOn(rig);

  let retryBytes = 0;
  const look = async (): Promise<void> => {
    retryBytes = Math.max(retryBytes, (await readStreamState(rig.connection, streams.retry)).bytes);
  };
  const rounds = 20;
  for (let round = 0; round < rounds; round += 1) {
    await rig.accept(loud, events(`loud${round}`, 30));
    await rig.accept(quiet, events(`quiet${round}`, 1));
    await look();
    await until('the quiet account is delivered beside it', () => sink.taken('/well').length > round);
  }
  await until('the retries of the quiet account are stored', async () => {
    await look();
    return (await retriesOf(rig, busyDestination)) > 0;
  });
  isOver = true;
  await until('the quiet account has all it sent', async () => {
    await look();
    return new Set(sink.taken('/busy')).size === rounds;
  });
  expect(new Set(sink.taken('/well')).size).toBe(rounds);
  // The failing account fills its share; a few bytes are of the quiet account.
  expect(retryBytes).toBeGreaterThan((retryBytesMax * share) / 2);
  expect(retryBytes).toBeLessThan(retryBytesMax * share * 1.2);
  await until('the frames of the quiet account are settled', async () => {
    const consumers = await listConsumerProgress(rig.connection, streams.events);
    const own = consumers.filter(({ name }) => [busyDestination, wellDestination].some((id) => name.includes(id)));
    return own.length === 2 && own.every(({ waiting, unacknowledged }) => waiting + unacknowledged === 0);
  });
});
