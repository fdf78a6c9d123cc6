import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import type { ReplayRequest } from '../../contracts/replay-job.ts';
import { encodeReplay, replayedEventsMax } from '../../contracts/replay-job.ts';
import { startTestNats } from '../../testing/servers.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import { openBuckets, replaysBytesMax } from './open-buckets.ts';
import { TooManyReplaysError, createReplayStore } from './replay-store.ts';
import type { ReplayStore } from './replay-store.ts';

let nats: NatsServer;
let connection: LogConnection;
let store: ReplayStore;

beforeAll(async () => {
  nats = await startTestNats();
  connection = await connectLog({ url: nats.url, name: 'test' });
  store = createReplayStore((await openBuckets(connection, 1)).replays);
});
afterAll(async () => {
  await connection.close();
  await nats.stop();
});

const quotaBytes = replaysBytesMax / 16;

/** A request as large as one can be; `n` distinguishes it from others. */
const large = (n: number): ReplayRequest => ({
  what: 'dead-letters',
  eventIds: Array.from({ length: replayedEventsMax }, (_, index) => `${n} ${index} `.padEnd(400, 'e')),
});

async function bytesOf(destinationIds: readonly string[]): Promise<number> {
  const jobs = (await Promise.all(destinationIds.map((id) => store.list(id)))).flat();
  return jobs.reduce((sum, job) => sum + encodeReplay(job).length, 0);
}

test('replay store: an account whose replays list many events keeps only the newest that are over, within its quota', async () => {
  let newest = '';
  for (let n = 0; n < 20; n += 1) {
    newest = (await store.start('often', 'often-1', large(n))).id;
    await store.cancel('often-1', newest);
  }
  const bytes = await bytesOf(['often-1']);
  expect(bytes).toBeLessThan(quotaBytes);
  expect(bytes).toBeGreaterThan(quotaBytes / 2);
  expect((await store.list('often-1'))[0]?.id).toBe(newest);
});

test('replay store: an account whose waiting replays list many events is refused above its quota, and other accounts are not', async () => {
  const destinations = Array.from({ length: 20 }, (_, n) => `many-${n}`);
  const startAll = async (): Promise<void> => {
    for (const [n, destinationId] of destinations.entries()) await store.start('many', destinationId, large(n));
  };
  await expect(startAll()).rejects.toThrow(TooManyReplaysError);
  expect(await bytesOf(destinations)).toBeLessThan(quotaBytes);
  expect(await store.start('other', 'other-1', large(0))).toMatchObject({ state: 'waiting' });
});
