import { randomUUID } from 'node:crypto';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import { countBySubject, deleteMessage, purgeSubject } from '../../../shared/nats/messages/subject-log.ts';
import { deduplicationSubject, eventsOfAccount } from '../../../shared/contracts/subjects.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { migrate } from '../../../shared/postgres/migrate.ts';
import { createVisitorStore } from '../../../shared/visitors/postgres-visitor-store.ts';
import { asLogUser, asOperator, testUsersConfig } from '../../../shared/testing/as-log-user.ts';
import { createNatsFolder, createTestDatabase, startTestNats } from '../../../shared/testing/servers.ts';
import { resolvedBy } from '../../../shared/testing/visitors.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import type { ResolverSettings } from './resolver-settings.ts';
import { createResolverRig, onEmptyLog, defaultSettings } from './testing/resolver-rig.ts';
import type { Actor } from '../worker/define-worker.ts';
import type { ResolverRig } from './testing/resolver-rig.ts';
import { logAccount } from '../../../shared/nats/users/log-users.ts';

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

const withRig = (work: (rig: ResolverRig) => Promise<void>): Promise<void> => onEmptyLog(nats.url, database.url, work);

/** Each resolved event is a frame of its own. */
const oneByOne: ResolverSettings = { ...defaultSettings, partEventsMax: 1 };
/** No checkpoint is written before the end. */
const seldom: ResolverSettings = { ...oneByOne, checkpointEveryMs: 3_600_000 };
const often: ResolverSettings = { ...oneByOne, checkpointEveryMs: 20 };

const patiently = { timeout: 45_000, interval: 20 };
const until = (resolver: Actor, counter: string, value: number): Promise<void> =>
  vi.waitFor(() => expect(resolver.stats()).toMatchObject({ [counter]: value }), patiently);

const numbers = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, n) => from + n);

/** Sends one frame per event. */
async function sendEach(rig: ResolverRig, from: number, to: number, partition = 0): Promise<void> {
  for (const n of numbers(from, to)) await rig.send(partition, [{ id: `e${n}`, body: { event: 'E', userId: 'u' } }]);
}

const sendAtOnce = (rig: ResolverRig, from: number, to: number): Promise<unknown> =>
  rig.send(
    0,
    numbers(from, to).map((n) => ({ id: `e${n}`, body: { event: 'E', userId: 'u' } })),
  );

/** Runs a resolver until it has resolved this many events, and stops it. */
async function resolve(rig: ResolverRig, events: number, settings = often, partition = 0): Promise<Actor> {
  const resolver = await rig.start(partition, { settings });
  await until(resolver, 'resolved', events);
  await resolver.stop(5_000);
  return resolver;
}

/** Removes an account's events from EVENTS, as retention does once the account's destinations have them. */
const purgeAccount = (rig: ResolverRig, account: string): Promise<unknown> =>
  purgeSubject(rig.connection, streams.events, eventsOfAccount(account));

/**
 * Sends events again. Returns how many of them a new resolver treats as new, how many as duplicates, and how many
 * frames it had to read at its start.
 */
async function resend(rig: ResolverRig, from: number, to: number) {
  const resolver = await rig.start(0, { settings: often });
  await sendAtOnce(rig, from, to);
  await until(resolver, 'events', to - from);
  await vi.waitFor(() => {
    const { resolved, duplicates } = resolver.stats();
    expect(resolved + duplicates).toBe(to - from);
  }, patiently);
  await resolver.stop(5_000);
  const { resolved, duplicates, rebuild_frames: framesRead } = resolver.stats();
  return { resolved, duplicates, framesRead };
}

async function countCheckpoints({ connection }: ResolverRig, partition = 0): Promise<number> {
  const subject = deduplicationSubject(partition);
  return (await countBySubject(connection, streams.deduplication, subject)).get(subject) ?? 0;
}

test('checkpoints: a start after a stop reads no frame and knows every event', () =>
  withRig(async (rig) => {
    await sendEach(rig, 0, 30);
    await resolve(rig, 30, seldom);
    expect(await resend(rig, 0, 30)).toEqual({ resolved: 0, duplicates: 30, framesRead: 0 });
    // Once more, with checkpoints that two resolvers wrote.
    expect(await resend(rig, 10, 40)).toEqual({ resolved: 10, duplicates: 20, framesRead: 0 });
  }));

test('checkpoints: a start after a crash reads only the frames after the last checkpoint', () =>
  withRig(async (rig) => {
    await sendEach(rig, 0, 10);
    await resolve(rig, 10);
    await sendEach(rig, 10, 15);
    const connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'mortal' });
    const resolver = await rig.start(0, { connection, settings: seldom });
    await until(resolver, 'resolved', 5);
    resolver.done.catch(() => undefined);
    await connection[client].nc.close();
    void resolver.stop(0);
    expect(await resend(rig, 0, 15)).toEqual({ resolved: 0, duplicates: 15, framesRead: 5 });
  }));

test('checkpoints: without checkpoints the log is read whole once, and checkpoints are written from then on', () =>
  withRig(async (rig) => {
    await sendEach(rig, 0, 20);
    await resolve(rig, 20);
    await rig.connection[client].jsm.streams.purge(streams.deduplication);
    expect(await resend(rig, 0, 20)).toEqual({ resolved: 0, duplicates: 20, framesRead: 20 });
    expect(await resend(rig, 0, 20)).toEqual({ resolved: 0, duplicates: 20, framesRead: 0 });
  }));

test('checkpoints: a start after EVENTS was purged still knows every event', () =>
  withRig(async (rig) => {
    await sendEach(rig, 0, 10);
    await resolve(rig, 10);
    await rig.connection[client].jsm.streams.purge(streams.events);
    expect(await resend(rig, 0, 20)).toEqual({ resolved: 10, duplicates: 10, framesRead: 0 });
    expect(await resend(rig, 0, 20)).toMatchObject({ resolved: 0, duplicates: 20 });
  }));

test('checkpoints: if old checkpoints cannot be removed, a resolver still starts, and the next start reads the newer ones', async () => {
  const withoutRemoval = testUsersConfig()
    .split('\n')
    .filter((line) => !/STREAM\.(MSG\.DELETE|PURGE)\.DEDUPLICATION/.test(line))
    .join('\n');
  const server = await startTestNats({ furtherConfig: withoutRemoval });
  const rig = await createResolverRig(asOperator(server.url), database.url);
  const operator = await connectLog({ url: asOperator(server.url), name: 'test' });
  try {
    await sendEach(rig, 0, 10);
    await resolve(rig, 10);
    const { config } = await operator[client].jsm.streams.info(streams.events);
    await operator[client].jsm.streams.delete(streams.events);
    await operator[client].jsm.streams.add(config);
    const left = await countCheckpoints(rig);
    expect(await resend(rig, 0, 20)).toEqual({ resolved: 20, duplicates: 0, framesRead: 0 });
    expect(await countCheckpoints(rig)).toBeGreaterThan(left);
    // The next start reads the new checkpoints, which follow those that could not be removed.
    expect(await resend(rig, 0, 20)).toEqual({ resolved: 0, duplicates: 20, framesRead: 0 });
  } finally {
    await operator.close();
    await rig.close();
    await server.stop();
  }
});

test('checkpoints: if one checkpoint is missing, the frames after it are read from the log', () =>
  withRig(async (rig) => {
    const resolver = await rig.start(0, { settings: often });
    const seqs: number[] = [];
    for (const n of numbers(0, 4)) {
      await sendEach(rig, n * 5, n * 5 + 5);
      await until(resolver, 'resolved', n * 5 + 5);
      await vi.waitFor(async () => {
        const { state } = await rig.connection[client].jsm.streams.info(streams.deduplication);
        expect(state.last_seq).toBeGreaterThan(seqs.at(-1) ?? 0);
        seqs.push(state.last_seq);
      });
    }
    await resolver.stop(5_000);
    await deleteMessage(rig.connection, streams.deduplication, seqs[2] ?? 0);
    const read = await resend(rig, 0, 20);
    expect(read).toMatchObject({ resolved: 0, duplicates: 20 });
    expect(read.framesRead).toBeGreaterThan(0);
    expect(await resend(rig, 0, 20)).toEqual({ resolved: 0, duplicates: 20, framesRead: 0 });
  }));

test('checkpoints: after the window and the table are enlarged, the table is filled from the log', () =>
  withRig(async (rig) => {
    await sendEach(rig, 0, 10);
    const small = { windowMs: 3_600_000, idsMax: 1_000 };
    await resolve(rig, 10, { ...often, deduplication: small });
    expect(await resend(rig, 0, 10)).toEqual({ resolved: 0, duplicates: 10, framesRead: 10 });
    expect(await resend(rig, 0, 10)).toEqual({ resolved: 0, duplicates: 10, framesRead: 0 });
  }));

test('checkpoints: of two resolvers of a partition only the later one writes, and it has all ids of the earlier one', () =>
  withRig(async (rig) => {
    const earlier = await rig.start(0, { settings: seldom });
    await sendEach(rig, 0, 5);
    await until(earlier, 'resolved', 5);
    const failure = earlier.done.then(
      () => undefined,
      (error: unknown) => error,
    );
    const later = await rig.start(0, { settings: seldom });
    expect(await failure).toMatchObject({ code: 'consumer_taken' });
    const before = await countCheckpoints(rig);
    await earlier.stop(5_000);
    expect(await countCheckpoints(rig)).toBe(before);
    await later.stop(5_000);
    expect(later.stats()).toMatchObject({ deduplication_ids: 5, checkpoint_failures: 0 });
    expect(await resend(rig, 0, 5)).toEqual({ resolved: 0, duplicates: 5, framesRead: 0 });
  }));

test('checkpoints: checkpoints that the table no longer needs are removed, and the remaining ones fill it', () =>
  withRig(async (rig) => {
    const events = 20_000;
    const deduplication = { windowMs: 3_600_000, idsMax: 1_600 };
    const settings = { ...often, partEventsMax: 256, deduplication, checkpointBytesMax: 1_024 };
    for (let from = 0; from < events; from += 500) await sendAtOnce(rig, from, from + 500);
    const resolver = await resolve(rig, events, settings);
    const { deduplication_ids: held = 0 } = resolver.stats();
    // Checkpoints for the ids that the table holds, those that would be removed together, and a few that were not full.
    expect(await countCheckpoints(rig)).toBeLessThan(1_600 / 128 + 64 + 60);
    const next = await rig.start(0, { settings });
    const { rebuild_frames: framesRead, deduplication_ids: filled } = next.stats();
    expect(framesRead).toBe(0);
    // Hashes are spread slightly unevenly over the parts of a small table, so a part may have got more than it holds.
    expect(filled).toBeGreaterThan(0.95 * held);
    await next.stop(5_000);
  }));

test('checkpoints: ids older than the window are removed with their checkpoints', () =>
  withRig(async (rig) => {
    const settings = { ...often, deduplication: { windowMs: 40, idsMax: 1_000 } };
    const resolver = await rig.start(0, { settings });
    let sent = 0;
    await vi.waitFor(
      async () => {
        await sendEach(rig, sent, (sent += 1));
        expect(resolver.stats()['checkpoints']).toBeGreaterThan(100);
      },
      { timeout: 45_000, interval: 20 },
    );
    await resolver.stop(5_000);
    expect(await countCheckpoints(rig)).toBeLessThan(90);
  }));

test('checkpoints: without their stream neither a start nor an event is delayed', () =>
  withRig(async (rig) => {
    const { jsm } = rig.connection[client];
    const { config } = await jsm.streams.info(streams.deduplication);
    await jsm.streams.delete(streams.deduplication);
    await sendEach(rig, 0, 5);
    const resolver = await resolve(rig, 5);
    expect(resolver.stats()['checkpoint_failures']).toBeGreaterThan(0);
    await jsm.streams.add(config);
    expect(await resend(rig, 0, 5)).toEqual({ resolved: 0, duplicates: 5, framesRead: 5 });
  }));

/** If the table kept the id of an event that the log no longer has, it would drop the event when it is sent again. */
describe('checkpoints of frames that retention removed while older ones of another account wait', () => {
  const body = { event: 'E', userId: 'u' };

  test('checkpoints: after a reconnect, no frame counts as lost, and the resolver continues', () =>
    withRig(async (rig) => {
      const [slow, quick] = [randomUUID(), randomUUID()];
      const connection = await connectLog({ url: nats.url, name: 'resolver' });
      try {
        const resolver = await rig.start(0, { connection, settings: often });
        let failure: unknown;
        resolver.done.catch((error: unknown) => {
          failure = error;
        });
        await rig.send(0, [{ id: 'old', account: slow, body }]);
        await until(resolver, 'resolved', 1);
        await rig.send(0, [{ id: 'new', account: quick, body }]);
        await until(resolver, 'resolved', 2);
        await purgeAccount(rig, quick);
        const { reconnects } = connection;
        await connection[client].nc.reconnect();
        await vi.waitFor(() => expect(connection.reconnects).toBeGreaterThan(reconnects), { timeout: 45_000 });
        await rig.send(0, [{ id: 'next', account: quick, body }]);
        await until(resolver, 'resolved', 3);
        expect([failure, resolver.stats()['lost_frames']]).toEqual([undefined, 0]);
        await resolver.stop(5_000);
      } finally {
        await connection.close();
      }
    }));

  test('checkpoints: the next start keeps every checkpoint and recognizes every event', () =>
    withRig(async (rig) => {
      const [slow, quick] = [randomUUID(), randomUUID()];
      const first = await rig.start(0, { settings: often });
      await rig.send(0, [{ id: 'old', account: slow, body }]);
      await until(first, 'resolved', 1);
      for (const id of ['new1', 'new2', 'new3']) await rig.send(0, [{ id, account: quick, body }]);
      await until(first, 'resolved', 4);
      await first.stop(5_000);
      await purgeAccount(rig, quick);
      const next = await rig.start(0, { settings: often });
      for (const id of ['new1', 'new2', 'new3']) await rig.send(0, [{ id, account: quick, body }]);
      await until(next, 'events', 3);
      await until(next, 'duplicates', 3);
      expect(next.stats()).toMatchObject({ resolved: 0, lost_frames: 0, rebuild_frames: 0 });
      await next.stop(5_000);
    }));
});

describe('checkpoints of frames that the log lost', () => {
  type Life = { readonly rig: ResolverRig; restart(change?: () => Promise<void>): Promise<void> };

  /** Runs a test on its own log, whose server the test can stop and start again with changed files. */
  async function withOwnLog(work: (life: Life, eventsFolder: string, spare: string) => Promise<void>): Promise<void> {
    const storeDir = await createNatsFolder();
    const spare = await createNatsFolder();
    let server = await startTestNats({ storeDir });
    const rig = await createResolverRig(server.url, database.url);
    const restart = async (change?: () => Promise<void>): Promise<void> => {
      const { port } = server;
      // The frames of resolved events are removed, as retention would do: otherwise the next resolver reads them again.
      await rig.connection[client].jsm.streams.purge(streams.ingest);
      const back = [rig.connection, rig.pipelineConnection].map((connection) => ({
        connection,
        reconnects: connection.reconnects,
      }));
      await server.stop();
      await change?.();
      server = await startTestNats({ storeDir, port });
      // A request that is made before our connection is back waits for its own deadline.
      for (const { connection, reconnects } of back) {
        await vi.waitFor(() => expect(connection.reconnects).toBeGreaterThan(reconnects), {
          timeout: 45_000,
          interval: 20,
        });
        await vi.waitFor(() => connection[client].jsm.streams.info(streams.events), { timeout: 45_000, interval: 50 });
      }
    };
    try {
      await work(
        { rig, restart },
        join(storeDir, 'jetstream', logAccount, 'streams', streams.events),
        join(spare, 'events'),
      );
    } finally {
      await rig.close();
      await server.stop();
    }
  }

  const replaceBy = (from: string, to: string) => async (): Promise<void> => {
    await rm(to, { recursive: true, force: true });
    await cp(from, to, { recursive: true });
  };

  test('checkpoints: after EVENTS was restored from an older copy, the events it lost are accepted again', () =>
    withOwnLog(async ({ rig, restart }, events, copy) => {
      await sendEach(rig, 0, 10);
      await resolve(rig, 10);
      await restart(replaceBy(events, copy));
      await sendEach(rig, 10, 20);
      await resolve(rig, 10);
      await restart(replaceBy(copy, events));
      expect(await resend(rig, 0, 20)).toMatchObject({ resolved: 10, duplicates: 10 });
      expect(await resend(rig, 0, 20)).toEqual({ resolved: 0, duplicates: 20, framesRead: 0 });
    }));

  test('checkpoints: events that EVENTS lost are accepted again, even if other partitions have reused their sequences', () =>
    withOwnLog(async ({ rig, restart }, events, copy) => {
      await sendEach(rig, 0, 10);
      await resolve(rig, 10);
      await restart(replaceBy(events, copy));
      await sendEach(rig, 10, 20);
      await resolve(rig, 10);
      await restart(replaceBy(copy, events));
      await sendEach(rig, 100, 140, 1);
      await resolve(rig, 40, often, 1);
      expect(await resend(rig, 0, 20)).toMatchObject({ resolved: 10, duplicates: 10 });
    }));

  test('checkpoints: events that EVENTS lost are accepted again, even if the recreated stream has outgrown the old one', () =>
    withOwnLog(async ({ rig }) => {
      const { jsm } = rig.connection[client];
      await sendEach(rig, 0, 10);
      await resolve(rig, 10);
      const { config } = await jsm.streams.info(streams.events);
      await jsm.streams.delete(streams.events);
      await jsm.streams.add(config);
      await sendEach(rig, 100, 140, 1);
      await resolve(rig, 40, often, 1);
      expect(await resend(rig, 0, 10)).toMatchObject({ resolved: 10, duplicates: 0 });
    }));

  test('checkpoints: a resolver whose last frames are lost after a reconnect ends, and the next one accepts their events again', () =>
    withOwnLog(async ({ rig, restart }, events, copy) => {
      const resolver = await rig.start(0, { settings: often });
      const failure = resolver.done.then(
        () => undefined,
        (error: unknown) => error,
      );
      await sendEach(rig, 0, 10);
      await until(resolver, 'resolved', 10);
      await restart(replaceBy(events, copy));
      await sendEach(rig, 10, 20);
      await until(resolver, 'resolved', 20);
      await restart(replaceBy(copy, events));
      expect(await failure).toMatchObject({ code: 'events_lost' });
      expect(resolver.stats()).toMatchObject({ lost_frames: 1 });
      expect(await resend(rig, 0, 20)).toMatchObject({ resolved: 10, duplicates: 10 });
    }));

  test('checkpoints: a resolver whose last frames are lost writes nothing more, not even work it had begun', () =>
    withOwnLog(async ({ rig, restart }, events, copy) => {
      const store = createVisitorStore(rig.pool);
      let release: () => void = () => undefined;
      const gate = new Promise<void>((go) => (release = go));
      let isHeld = false;
      const visitors = resolvedBy(async (touches) => {
        if (isHeld) await gate;
        return store.resolve(touches);
      });
      const resolver = await rig.start(0, { visitors, settings: often });
      const failure = resolver.done.then(
        () => undefined,
        (error: unknown) => error,
      );
      await sendEach(rig, 0, 10);
      await until(resolver, 'resolved', 10);
      await restart(replaceBy(events, copy));
      await sendEach(rig, 10, 20);
      await until(resolver, 'resolved', 20);
      isHeld = true;
      await sendEach(rig, 20, 21);
      await until(resolver, 'events', 21);
      await restart(replaceBy(copy, events));
      // The loss is noticed although the resolver's visitors still wait for the gate.
      await until(resolver, 'lost_frames', 1);
      release();
      expect(await failure).toMatchObject({ code: 'events_lost' });
      expect(await rig.written()).toHaveLength(10);
    }));

  test('checkpoints: events that retention removed from EVENTS are still recognized', () =>
    withOwnLog(async ({ rig }) => {
      await sendEach(rig, 0, 10);
      await resolve(rig, 10);
      await sendEach(rig, 100, 110, 1);
      await resolve(rig, 10, often, 1);
      await rig.connection[client].jsm.streams.purge(streams.events, { seq: 15 });
      expect(await resend(rig, 0, 10)).toEqual({ resolved: 0, duplicates: 10, framesRead: 0 });
    }));
});
