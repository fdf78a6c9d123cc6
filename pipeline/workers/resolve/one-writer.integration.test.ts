import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { encodeHashes, eventScope, hashEvent, idsHeader } from '../../../shared/contracts/events/event-hash.ts';
import {
  deduplicationSubject,
  eventsOfAll,
  eventsSubject,
  ingestOfAccount,
} from '../../../shared/contracts/subjects.ts';
import { client } from '../../../shared/nats/connection/client.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import { countBySubject, purgeSubject } from '../../../shared/nats/messages/subject-log.ts';
import { publish } from '../../../shared/nats/publish/publisher.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { migrate } from '../../../shared/postgres/migrate.ts';
import { asLogUser } from '../../../shared/testing/as-log-user.ts';
import { openLogGate } from '../../../shared/testing/log-gate.ts';
import type { LogGate } from '../../../shared/testing/log-gate.ts';
import { createTestDatabase, startTestNats } from '../../../shared/testing/servers.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import { createVisitorStore } from '../../../shared/visitors/postgres-visitor-store.ts';
import type { VisitorTouch } from '../../../shared/visitors/visitor-store.ts';
import type { JsonObject } from '../../../shared/runtime/json.ts';
import type { Actor } from '../worker/define-worker.ts';
import { PartitionWriter } from './partition-writer.ts';
import type { ResolverOptions } from './resolver-options.ts';
import { onEmptyLog, defaultSettings } from './testing/resolver-rig.ts';
import type { ResolverRig, TestEvent } from './testing/resolver-rig.ts';

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

const patiently = { timeout: 45_000, interval: 20 };
const until = (resolver: Actor, counter: string, value: number): Promise<void> =>
  vi.waitFor(() => expect(resolver.stats()).toMatchObject({ [counter]: value }), patiently);

const event = (n: number): TestEvent => ({ id: `e${n}`, body: { event: 'E', userId: `u${n % 3}` } });
const events = (count: number): TestEvent[] => Array.from({ length: count }, (_, n) => event(n));
const failureOf = (resolver: Actor): Promise<unknown> =>
  resolver.done.then(
    () => undefined,
    (error: unknown) => error,
  );
const idsOf = async (rig: ResolverRig): Promise<string[]> => (await rig.written()).map(({ event: { id } }) => id);

type Predecessor = {
  readonly gate: LogGate;
  /** The options with which the predecessor starts: its connection goes through the gate. */
  readonly own: Pick<ResolverOptions, 'connection'>;
};

/** Runs a test with a predecessor that can be paused. */
async function withPredecessor(work: (predecessor: Predecessor, rig: ResolverRig) => Promise<void>): Promise<void> {
  const gate = await openLogGate(nats.url);
  const connection = await connectLog({ url: asLogUser(gate.url, 'pipeline'), name: 'predecessor' });
  try {
    await withRig((rig) => work({ gate, own: { connection } }, rig));
  } finally {
    vi.restoreAllMocks();
    await connection.close(0);
    await gate.close();
  }
}

/** Sets the clock ahead, as if the process had been paused for as long as a successor may take to start. */
function jumpAhead(): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, 'now').mockImplementation(() => now() + 10_000);
}

test('one writer: a resolver that was paused before it published is refused by the log, and ends without harm', () =>
  withPredecessor(async ({ gate, own }, rig) => {
    await rig.send(0, events(12));
    const held = gate.hold('events.>');
    const paused = await rig.start(0, { ...own, settings: { ...defaultSettings, partEventsMax: 5 } });
    const failure = failureOf(paused);
    await held.arrived;
    // The new owner divides the same frame differently, so its messages have other ids than those of the first
    // resolver.
    const owner = await rig.start(0, { settings: { ...defaultSettings, partEventsMax: 4 } });
    await until(owner, 'resolved', 12);
    held.release();
    expect(await failure).toMatchObject({ code: expect.stringMatching(/^(other_writer|consumer_taken)$/) });
    expect(await idsOf(rig)).toEqual(events(12).map(({ id }) => id));
    expect(paused.stats()).toMatchObject({ resolved: 0 });
    await owner.stop(5_000);
  }));

test('one writer: a resolver that was paused while retention removed the frames of its successor writes nothing, and ends', () =>
  withPredecessor(async ({ gate, own }, rig) => {
    const paused = await rig.start(0, own);
    const failure = failureOf(paused);
    await rig.send(0, [event(0)]);
    await until(paused, 'resolved', 1);
    const held = gate.hold('events.>');
    await rig.send(0, [event(1)]);
    await held.arrived;
    const goOn = gate.standStill();
    const owner = await rig.start(0);
    await until(owner, 'resolved', 1);
    await purgeSubject(rig.connection, streams.events, eventsOfAll);
    jumpAhead();
    held.release();
    goOn();
    expect(await failure).toMatchObject({ code: 'consumer_taken' });
    expect(await idsOf(rig)).toEqual([]);
    await owner.stop(5_000);
  }));

test('one writer: a resolver that was paused before it stored a checkpoint stores none after its successor took over', () =>
  withPredecessor(async ({ gate, own }, rig) => {
    const settings = { ...defaultSettings, checkpointEveryMs: 20 };
    const subject = deduplicationSubject(0);
    const stored = async (): Promise<number | undefined> =>
      (await countBySubject(rig.connection, streams.deduplication, subject)).get(subject);
    const paused = await rig.start(0, { ...own, settings });
    const failure = failureOf(paused);
    await rig.send(0, [event(0)]);
    await vi.waitFor(() => expect(paused.stats()).toMatchObject({ resolved: 1, checkpoint_ids_waiting: 0 }), patiently);
    const held = gate.hold(subject);
    await rig.send(0, [event(1)]);
    await held.arrived;
    const goOn = gate.standStill();
    const owner = await rig.start(0, { settings });
    await rig.send(0, [event(1), event(2)]);
    await until(owner, 'duplicates', 1);
    await vi.waitFor(() => expect(owner.stats()).toMatchObject({ resolved: 1, checkpoint_ids_waiting: 0 }), patiently);
    const before = await stored();
    held.release();
    goOn();
    expect(await failure).toMatchObject({ code: 'consumer_taken' });
    expect(await stored()).toBe(before);
    await owner.stop(5_000);
  }));

const openWriter = async (rig: ResolverRig, confirm = (): Promise<void> => Promise.resolve()) => {
  const writer = new PartitionWriter({
    partition: 0,
    connection: rig.pipelineConnection,
    settings: defaultSettings,
    logger: pino({ level: 'silent' }),
    counts: { publish_retries: 0, lost_frames: 0 },
    signal: new AbortController().signal,
    confirm,
  });
  await writer.open();
  const subject = eventsSubject(rig.account, 0);
  return {
    write: (msgId: string) => writer.publish({ subject, payload: Buffer.from('{}\n'), msgId }),
    stored: async (): Promise<number | undefined> =>
      (await countBySubject(rig.connection, streams.events, subject)).get(subject),
    purge: () => purgeSubject(rig.connection, streams.events, subject),
    close: () => writer.close(),
  };
};

test('one writer: if the last message of a subject is gone, ownership of the partition is confirmed before anything is written', () =>
  withRig(async (rig) => {
    let isOwner = true;
    const taken = new Error('another resolver has the partition');
    const writer = await openWriter(rig, () => (isOwner ? Promise.resolve() : Promise.reject(taken)));
    await writer.write(randomUUID());
    await writer.purge();
    isOwner = false;
    await expect(writer.write(randomUUID())).rejects.toBe(taken);
    expect(await writer.stored()).toBeUndefined();
    isOwner = true;
    await writer.write(randomUUID());
    expect(await writer.stored()).toBe(1);
    writer.close();
  }));

test('one writer: after a message that the log has already, the next message still follows the newest message', () =>
  withRig(async (rig) => {
    const writer = await openWriter(rig);
    const first = randomUUID();
    const { seq } = await writer.write(first);
    await writer.write(randomUUID());
    expect(await writer.write(first)).toEqual({ seq, duplicate: true });
    expect(await writer.write(randomUUID())).toMatchObject({ duplicate: false });
    expect(await writer.stored()).toBe(3);
    writer.close();
  }));

test('one writer: a resolver that was paused while it copied a flood to a queue acknowledges no frame of the flood, and ends', () =>
  withPredecessor(async ({ gate, own }, rig) => {
    const store = createVisitorStore(rig.pool);
    const stuck: ResolverOptions['visitors'] = {
      distrust: () => store.distrust(),
      resolve: () => new Promise(() => undefined),
      lookUp: async (touches) => ({ ...(await store.lookUp(touches)), write: () => stuck.resolve(touches) }),
    };
    const settings = { ...defaultSettings, waitingBytesMax: 64 * 1024, framesInFlightMax: 16 };
    const held = gate.hold(ingestOfAccount(0, rig.account));
    const paused = await rig.start(0, { ...own, settings, visitors: stuck });
    const failure = failureOf(paused);
    const padding = 'x'.repeat(4_000);
    const flood = Array.from({ length: 40 }, (_, n) => ({
      id: `e${n}`,
      body: { event: 'E', userId: 'u', properties: { padding } },
    }));
    for (const one of flood) await rig.send(0, [one]);
    await held.arrived;
    const goOn = gate.standStill();
    const owner = await rig.start(0);
    await until(owner, 'resolved', flood.length);
    jumpAhead();
    held.release();
    goOn();
    expect(await failure).toMatchObject({ code: expect.stringMatching(/^(other_writer|consumer_taken)$/) });
    expect(gate.acknowledged(streams.ingest)).toEqual([]);
    expect(await idsOf(rig)).toEqual(flood.map(({ id }) => id));
    await owner.stop(5_000);
  }));

test('one writer: a resolver that was paused before it removed a queue leaves messages that arrived there in the meantime', () =>
  withPredecessor(async ({ gate, own }, rig) => {
    const store = createVisitorStore(rig.pool);
    let resolveAll: () => void = () => undefined;
    const isFlooded = new Promise<void>((resolve) => (resolveAll = resolve));
    const slow: ResolverOptions['visitors'] = {
      distrust: () => store.distrust(),
      resolve: (touches) => isFlooded.then(() => store.resolve(touches)),
      lookUp: async (touches) => ({ ...(await store.lookUp(touches)), write: () => slow.resolve(touches) }),
    };
    const settings = { ...defaultSettings, waitingBytesMax: 64 * 1024, framesInFlightMax: 16 };
    const subject = ingestOfAccount(0, rig.account);
    const stored = async (): Promise<number> =>
      (await countBySubject(rig.connection, streams.ingest, subject)).get(subject) ?? 0;
    const held = gate.hold(`$JS.API.STREAM.PURGE.${streams.ingest}`);
    const paused = await rig.start(0, { ...own, settings, visitors: slow });
    const properties = { padding: 'x'.repeat(4_000) };
    for (let n = 0; n < 40; n += 1) await rig.send(0, [{ id: `e${n}`, body: { event: 'E', userId: 'u', properties } }]);
    await vi.waitFor(async () => expect(await stored()).toBeGreaterThan(0), patiently);
    resolveAll();
    await held.arrived;
    const before = await stored();
    await publish(rig.connection, subject, Buffer.from('{}\n'), { msgId: randomUUID(), timeoutMs: 5_000 });
    held.release();
    await vi.waitFor(async () => expect(await stored()).toBeLessThanOrEqual(before), patiently);
    expect(await stored()).toBe(1);
    await paused.stop(5_000);
  }));

test('one writer: if an earlier build, which names no sequence, writes too, the owner ends and its successor resolves no id twice', () =>
  withRig(async (rig) => {
    const owner = await rig.start(0, { settings: { ...defaultSettings, partEventsMax: 1 } });
    await rig.send(0, [event(0)]);
    await until(owner, 'resolved', 1);
    // Publishes what a paused resolver of an earlier build would publish.
    const [first] = await rig.writtenFrames();
    const message = await rig.connection[client].jsm.streams.getMessage(streams.events, { seq: first?.seq ?? 0 });
    await publish(rig.connection, eventsSubject(rig.account, 0), message.data, {
      msgId: randomUUID(),
      timeoutMs: 5_000,
    });
    const failure = failureOf(owner);
    await rig.send(0, [event(1)]);
    expect(await failure).toMatchObject({ code: 'other_writer' });
    const next = await rig.start(0);
    await until(next, 'resolved', 1);
    await rig.send(0, [event(0), event(1), event(2)]);
    await until(next, 'duplicates', 2);
    await until(next, 'resolved', 2);
    await next.stop(5_000);
    expect(await idsOf(rig)).toEqual(['e0', 'e0', 'e1', 'e2']);
  }));

test('one writer: a frame that a paused predecessor stored unseen is known to the next resolver, though a checkpoint covers it', () =>
  withRig(async (rig) => {
    const settings = { ...defaultSettings, partEventsMax: 1, checkpointEveryMs: 20 };
    const owner = await rig.start(0, { settings });
    await rig.send(0, [event(0)]);
    await until(owner, 'resolved', 1);
    // The predecessor's frame, with event 1.
    const scope = eventScope({ account: rig.account, source: 'source-1' });
    await publish(rig.connection, eventsSubject(rig.account, 0), Buffer.from('{}\n'), {
      msgId: randomUUID(),
      headers: { [idsHeader]: encodeHashes([hashEvent(scope, 'e1', { userId: 'u1' })]) },
      timeoutMs: 5_000,
    });
    await rig.send(0, [{ ...event(2), account: randomUUID() }]);
    await vi.waitFor(() => expect(owner.stats()).toMatchObject({ resolved: 2, checkpoint_ids_waiting: 0 }), patiently);
    const failure = failureOf(owner);
    await rig.send(0, [event(1)]);
    expect(await failure).toMatchObject({ code: 'other_writer' });
    const next = await rig.start(0);
    await rig.send(0, [event(3)]);
    await vi.waitFor(() => {
      const { resolved, duplicates } = next.stats();
      expect(duplicates).toBeGreaterThan(0);
      expect(resolved).toBe(1);
    }, patiently);
    await next.stop(5_000);
  }));

test.each(['the last frame of an idle partition', 'all of EVENTS'])(
  'one writer: after retention removed %s, the resolver goes on and knows a repeated id, before and after a restart',
  (removed) =>
    withRig(async (rig) => {
      const settings = { ...defaultSettings, partEventsMax: 1, checkpointEveryMs: 20 };
      const resolver = await rig.start(0, { settings });
      await rig.send(0, [event(0)]);
      await until(resolver, 'resolved', 1);
      // Another partition continues, so that EVENTS has a later end.
      await publish(rig.connection, eventsSubject(randomUUID(), 1), Buffer.from('{}\n'), {
        msgId: randomUUID(),
        timeoutMs: 5_000,
      });
      const subject = removed.startsWith('all') ? eventsOfAll : eventsSubject(rig.account, 0);
      await purgeSubject(rig.connection, streams.events, subject);
      await rig.send(0, [event(0), event(1)]);
      await until(resolver, 'duplicates', 1);
      await until(resolver, 'resolved', 2);
      expect(resolver.stats()).toMatchObject({ lost_frames: 0 });
      await purgeSubject(rig.connection, streams.events, subject);
      await resolver.stop(5_000);
      const next = await rig.start(0, { settings });
      await rig.send(0, [event(0), event(1), event(2)]);
      await until(next, 'duplicates', 2);
      await until(next, 'resolved', 1);
      expect(next.stats()).toMatchObject({ lost_frames: 0, rebuild_frames: 0 });
      await next.stop(5_000);
    }),
);

test('one writer: a resolver that takes over does not use visitors that its process read before', () =>
  withRig(async (rig) => {
    const store = createVisitorStore(rig.pool, { trustedMs: Infinity });
    const known = (given: JsonObject[], receivedAtMs = Date.now()): VisitorTouch => ({
      accountId: rig.account,
      claim: { userId: 'u0', externalIds: [], emails: [], anonymousId: undefined },
      receivedAtMs,
      given,
      sentWith: 'server',
    });
    await store.resolve([known([{ city: 'Oslo' }])]);
    await store.lookUp([known([])]);
    // Another store writes the visitor, as the previous resolver would in its own process.
    await createVisitorStore(rig.pool).resolve([known([{ city: 'Rome' }])]);
    expect((await store.lookUp([known([])])).outcomes).toMatchObject([{ properties: { value: { city: 'Oslo' } } }]);
    const resolver = await rig.start(0, { visitors: store });
    await rig.send(0, [event(0)]);
    await until(resolver, 'resolved', 1);
    expect(await rig.written()).toMatchObject([{ visitor: { id: 'u0', city: 'Rome' } }]);
    await resolver.stop(5_000);
  }));
