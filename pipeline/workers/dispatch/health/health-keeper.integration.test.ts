import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { NatsServer } from '../../../../shared/embedded/nats/nats-server.ts';
import { joinHealth, pastHealthKey, recentHealthKey } from '../../../../shared/contracts/health-record.ts';
import type { HealthRecord } from '../../../../shared/contracts/health-record.ts';
import type { Bucket } from '../../../../shared/nats/buckets/bucket.ts';
import { connectLog } from '../../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { openBuckets } from '../../../../shared/nats/buckets/open-buckets.ts';
import { asLogUser } from '../../../../shared/testing/as-log-user.ts';
import { makeTestLog } from '../../../../shared/testing/make-test-log.ts';
import { testTopology } from '../../../../shared/testing/test-topology.ts';
import { startTestNats } from '../../../../shared/testing/servers.ts';
import { HealthKeeper } from './health-keeper.ts';

const minuteMs = 60_000;
const startMs = 1_760_000_040_000;

let nats: NatsServer;
let connection: LogConnection;
let health: Bucket;
let destinationId: string;

beforeAll(async () => {
  nats = await startTestNats();
  await makeTestLog(nats, testTopology());
  connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'health-keeper-test' });
  ({ health } = await openBuckets(connection, 1));
});
afterAll(async () => {
  await connection?.close();
  await nats?.stop();
});
beforeEach(() => {
  destinationId = randomUUID();
  vi.useFakeTimers({ toFake: ['Date'], now: startMs });
});
afterEach(() => void vi.useRealTimers());

const open = (bucket = health): Promise<HealthKeeper> =>
  HealthKeeper.open({
    bucket,
    destinationId,
    instanceId: 'test',
    place: () => ({ upTo: 0, above: [], storedUntilMs: 0, parts: [] }),
    storePlace: () => Promise.resolve(),
    flushEveryMs: 1,
    hoursKept: 168,
    sending: () => ({ breaker: 'closed', concurrency: 4 }),
    isLogThere: () => true,
    warn: () => undefined,
  });

const committed = (keeper: HealthKeeper): Promise<void> => keeper.stored() ?? Promise.resolve();

async function read(key: string): Promise<HealthRecord | undefined> {
  const entry = await health.get(key);
  return entry?.value === undefined ? undefined : (JSON.parse(Buffer.from(entry.value).toString()) as HealthRecord);
}

/** Reads the stored health: the number of minutes in the recent entry, and the sum of successes in both entries. */
async function stored(): Promise<{ recentMinutes: number; succeeded: number }> {
  const key = recentHealthKey(destinationId, 'test');
  const recent = await read(key);
  if (recent === undefined) throw new Error('nothing is stored');
  const { minutes } = joinHealth(await read(pastHealthKey(key)), recent);
  return {
    recentMinutes: recent.minutes.length,
    succeeded: minutes.reduce((sum, [, succeeded]) => sum + succeeded, 0),
  };
}

test('health keeper: the record that is written often stays small, and no count is lost or doubled', async () => {
  let keeper = await open();
  let counted = 0;
  for (let minute = 0; minute < 100; minute += 1) {
    // Every 13th minute, the clock is set back.
    vi.setSystemTime(startMs + (minute % 13 === 12 ? minute - 7 : minute) * minuteMs);
    keeper.record('succeeded', 1 + minute);
    counted += 1 + minute;
    await committed(keeper);
    const { recentMinutes, succeeded } = await stored();
    expect([minute, succeeded]).toEqual([minute, counted]);
    expect(recentMinutes).toBeLessThanOrEqual(31);
    if (minute % 17 !== 16) continue;
    await keeper.stop();
    keeper = await open();
  }
  await keeper.stop();
});

test('health keeper: a record with the whole day in one entry is taken over', async () => {
  const minute = startMs / minuteMs;
  const minutes = Array.from({ length: 1_000 }, (_, i) => [minute - 1_000 + i, 1, 0, 0, 0]);
  const key = recentHealthKey(destinationId, 'test');
  await health.put(key, Buffer.from(JSON.stringify({ v: 1, minutes, lastDispatchedAt: startMs })));
  const keeper = await open();
  keeper.record('succeeded', 1);
  await committed(keeper);
  expect(await stored()).toEqual({ recentMinutes: 1, succeeded: 1_001 });
  await keeper.stop();
});

test('health keeper: if the entry of past minutes cannot be stored, it is stored later', async () => {
  let refusals = 3;
  const refusing: Bucket = {
    ...health,
    put: (key, value) => {
      if (key.endsWith('.past') && refusals > 0) {
        refusals -= 1;
        return Promise.reject(new Error('no'));
      }
      return health.put(key, value);
    },
  };
  const keeper = await open(refusing);
  for (let minute = 0; minute < 40; minute += 1) {
    vi.setSystemTime(startMs + minute * minuteMs);
    keeper.record('succeeded', 1);
    await committed(keeper);
  }
  expect(refusals).toBe(0);
  expect(await stored()).toMatchObject({ succeeded: 40 });
  await keeper.stop();
});

test('health keeper: minutes older than a day become hours of the past entry, even if the destination has little to do', async () => {
  const keeper = await open();
  keeper.record('succeeded', 3);
  await committed(keeper);
  vi.setSystemTime(startMs + 25 * 60 * minuteMs);
  keeper.record('failed', 1);
  await committed(keeper);
  await keeper.stop();
  const key = recentHealthKey(destinationId, 'test');
  expect((await read(pastHealthKey(key)))?.hours).toEqual([[Math.floor(startMs / 60 / minuteMs), 3, 0, 0, 0]]);
  expect(await read(key)).toMatchObject({
    minutes: [[Math.floor(startMs / minuteMs) + 25 * 60, 0, 1, 0, 0]],
    sending: { breaker: 'closed', concurrency: 4 },
  });
});
