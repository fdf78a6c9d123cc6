import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openedBytes } from '../shared/contracts/events/compressed-frame.ts';
import { eventsOfAccount } from '../shared/contracts/subjects.ts';
import type { NatsServer } from '../shared/embedded/nats/nats-server.ts';
import { impressionEvent } from '../shared/experiments/impression-event.ts';
import { openBuckets } from '../shared/nats/buckets/open-buckets.ts';
import { createReplayStore } from '../shared/nats/buckets/replay-store.ts';
import { readNext } from '../shared/nats/messages/subject-log.ts';
import { streams } from '../shared/nats/streams/topology.ts';
import { migrate } from '../shared/postgres/migrate.ts';
import { createTestDatabase, startTestNats } from '../shared/testing/servers.ts';
import type { TestDatabase } from '../shared/testing/servers.ts';
import { countResults } from '../shared/visitors/count-results.ts';
import { httpEntity } from './testing/account-config.ts';
import { openRig, startOn } from './testing/open-rig.ts';
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

const experiments = {
  experiments: [{ id: 'e', key: 'button', name: 'Button', status: 'Running', primaryMetric: { event: 'Order' } }],
  experimentVariants: [
    { id: 'a', experimentId: 'e', name: 'A', isControl: true },
    { id: 'b', experimentId: 'e', name: 'B', weight: 50 },
  ],
};

test('compressed frames: destinations, recent events, results and replays can read them', async () => {
  const { rig, sink } = await openRig(nats.url, database.url, { RESOLVER_COMPRESSION: 'all' });
  const [account, destination] = [randomUUID(), randomUUID()];
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  const fromMs = Date.now();
  const visitors = Array.from({ length: 40 }, (_, index) => `v${index}`);
  const shown = { experiment_id: 'e', variant_id: 'b' };
  await rig.configure(account, { ...experiments, destinations: [httpEntity(destination, sink.url)] });
  const { metricsPort } = await startOn(rig);
  const ids = (what: string): string[] => visitors.map((visitor) => `${what}-${visitor}`);
  await rig.accept(
    account,
    visitors.map((visitor) => ({ id: `shown-${visitor}`, visitor, event: impressionEvent, properties: shown })),
  );
  await until('all who were shown arrived', () => sink.taken().length === visitors.length);
  await rig.accept(
    account,
    visitors.map((visitor) => ({ id: `bought-${visitor}`, visitor, event: 'Order' })),
  );

  await until('all arrived', () => sink.taken().length === visitors.length * 2);
  expect(sink.taken().toSorted()).toEqual([...ids('bought'), ...ids('shown')].toSorted());
  const first = await readNext(rig.connection, streams.events, eventsOfAccount(account), 1);
  expect(openedBytes(first?.data ?? new Uint8Array())).toBeGreaterThan((first?.data.length ?? 0) * 4);
  const counted = async (name: string): Promise<number> => {
    const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
    return Number(
      new RegExp(String.raw`^sluice_resolver_${name}_total\{partition="0".*\} (\d+)$`, 'm').exec(page)?.[1] ?? 0,
    );
  };
  await until('both frames are counted', async () => (await counted('output_frames')) === 2);
  expect(await counted('output_bytes')).toBeGreaterThan((await counted('output_bytes_stored')) * 4);
  await until('results are counted', async () => {
    const [found] = await countResults(pool, account, 'e', 'Order');
    return found?.visitors === visitors.length && found.conversions === visitors.length;
  });
  await until('recent events have all of them', async () => {
    const { rows } = await pool.query<{ id: string }>('select id from recent_events where account_id = $1', [account]);
    return rows.length === visitors.length * 2;
  });
  await pool.end();

  const toMs = Date.now() + 1;
  await until('the range is over', () => Date.now() > toMs);
  const { replays } = await openBuckets(rig.connection, 1);
  await createReplayStore(replays).start(account, destination, { what: 'log', fromMs, toMs });
  await until('all arrived again', () => sink.taken().length === visitors.length * 4);
});
