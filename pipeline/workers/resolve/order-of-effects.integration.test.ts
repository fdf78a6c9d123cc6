import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesPerHash } from '../../../shared/contracts/events/event-hash.ts';
import {
  firstWithdrawalSubject,
  deduplicationSubject,
  ingestOfAccount,
  ingestSubject,
  resolverConsumer,
} from '../../../shared/contracts/subjects.ts';
import type { NatsServer } from '../../../shared/embedded/nats/nats-server.ts';
import { connectLog } from '../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../shared/nats/connection/connection.ts';
import { countBySubject } from '../../../shared/nats/messages/subject-log.ts';
import { publish } from '../../../shared/nats/publish/publisher.ts';
import { readConsumerProgress } from '../../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../../shared/nats/streams/topology.ts';
import { migrate } from '../../../shared/postgres/migrate.ts';
import { asLogUser } from '../../../shared/testing/as-log-user.ts';
import { openLogGate } from '../../../shared/testing/log-gate.ts';
import type { LogGate } from '../../../shared/testing/log-gate.ts';
import { createTestDatabase, startTestNats } from '../../../shared/testing/servers.ts';
import type { TestDatabase } from '../../../shared/testing/servers.ts';
import { testLiveConfig } from '../../../shared/testing/test-account-config.ts';
import { createVisitorStore } from '../../../shared/visitors/postgres-visitor-store.ts';
import { until } from '../../../shared/testing/until.ts';
import { compileResolvePlan } from './resolve-plan.ts';
import type { ResolverOptions } from './resolver-options.ts';
import { defaultSettings, frameOf, onEmptyLog } from './testing/resolver-rig.ts';
import type { ResolverRig, TestEvent } from './testing/resolver-rig.ts';
import { createWithdrawals } from './withdrawals.ts';

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

type Gated = { readonly rig: ResolverRig; readonly gate: LogGate; readonly connection: LogConnection };

/** Runs a test with an empty log and a connection to it through a gate. */
const onGatedLog = (work: (gated: Gated) => Promise<void>): Promise<void> =>
  onEmptyLog(nats.url, database.url, async (rig) => {
    const gate = await openLogGate(nats.url);
    const connection = await connectLog({ url: asLogUser(gate.url, 'pipeline'), name: 'gated' });
    try {
      await work({ rig, gate, connection });
    } finally {
      await connection.close(0);
      await gate.close();
    }
  });

const settings = { ...defaultSettings, publishTimeoutMs: 200, checkpointEveryMs: 20 };
const source = 'source-1';
const plan = compileResolvePlan(
  testLiveConfig({
    sources: [{ id: source, type: 'NodejsApi', status: 'Enabled' }],
    consentSettings: [
      {
        id: 'ads',
        name: 'Ads',
        isEnabled: true,
        defaultState: 'Granted',
        regions: null,
        destinationIds: ['d'],
        signals: {},
      },
    ],
    dataGovernanceRules: [
      {
        id: 'rule-1',
        name: 'No secrets',
        description: null,
        isEnabled: true,
        severity: 'Warning',
        eventName: null,
        property: 'event.event_properties.secret',
        type: 'Forbidden',
        expected: null,
        action: 'Quarantine',
      },
    ],
  }),
);
const ordinary: TestEvent = { id: 'ordinary', body: { event: 'E', userId: 'u' } };

/** Options of a resolver that announces withdrawals, and whose plan quarantines events. */
const optionsOn = (rig: ResolverRig, connection: LogConnection): Partial<ResolverOptions> => ({
  connection,
  settings,
  plans: () => plan,
  withdrawals: createWithdrawals({
    connection,
    visitors: createVisitorStore(rig.pool),
    erasures: { isCurrent: true, lastWords: () => undefined },
    plans: () => plan,
    logger: pino({ level: 'silent' }),
  }),
});

const unacknowledged = async (rig: ResolverRig): Promise<number | undefined> =>
  (await readConsumerProgress(rig.connection, streams.ingest, resolverConsumer(0)))?.unacknowledged;

const storedIn = async (rig: ResolverRig, stream: string): Promise<number> =>
  [...(await countBySubject(rig.connection, stream, '>'))].reduce(
    (sum, [subject, count]) => (subject === firstWithdrawalSubject ? sum : sum + count),
    0,
  );

test.each<{
  readonly into: string;
  readonly subject: string;
  readonly with: TestEvent | undefined;
  readonly written: readonly string[];
}>([
  { into: 'EVENTS', subject: 'events.>', with: undefined, written: ['ordinary'] },
  { into: 'INGEST_DEAD_LETTERS', subject: 'dead-ingest.>', with: undefined, written: ['ordinary'] },
  {
    into: 'QUARANTINE',
    subject: 'quarantine.>',
    with: { id: 'held', body: { event: 'E', userId: 'u', eventProperties: { secret: 1 } } },
    written: ['ordinary'],
  },
  {
    into: 'WITHDRAWALS',
    subject: 'withdrawals.>',
    with: { id: 'withdraws', kind: 'identify', body: { userId: 'u', userProperties: { consent: { ads: false } } } },
    written: ['withdraws', 'ordinary'],
  },
])(
  'order of effects: a frame is acknowledged, and its events continue, only once $into has stored its share of them',
  ({ into, subject, with: own, written }) =>
    onGatedLog(async ({ rig, gate, connection }) => {
      const before = await storedIn(rig, into);
      const refused = gate.refuse(subject);
      const resolver = await rig.start(0, optionsOn(rig, connection));
      resolver.done.catch(() => undefined);
      const events = Buffer.from(frameOf(rig.account, [...(own === undefined ? [] : [own]), ordinary]));
      const unreadable = into === 'INGEST_DEAD_LETTERS' ? [Buffer.from('{"v":9}\n')] : [];
      await publish(rig.connection, ingestSubject(0), Buffer.concat([...unreadable, events]), {
        msgId: randomUUID(),
        timeoutMs: 45_000,
      });
      await until('it was refused again and again', () => refused.messages.length >= 4);
      expect(gate.acknowledged(streams.ingest)).toEqual([]);
      expect(gate.passed.filter((message) => message.subject.startsWith('events.'))).toEqual([]);
      // This has the effect of killing the resolver: nothing is lost, and no new event counts as a repeated one.
      gate.cut();
      const successor = await rig.start(0, optionsOn(rig, rig.pipelineConnection));
      await until('it is resolved', async () => (await rig.written()).length === written.length);
      expect((await rig.written()).map(({ event }) => event.id)).toEqual(written);
      expect(await storedIn(rig, into)).toBe(before + (into === 'EVENTS' ? written.length : 1));
      expect(successor.stats()).toMatchObject({ duplicates: 0 });
      await successor.stop(5_000);
    }),
);

test('order of effects: events go on only once their visitors are stored', () =>
  onGatedLog(async ({ rig, gate, connection }) => {
    const holder = await rig.ownerPool.connect();
    await holder.query('begin; lock table visitors in access exclusive mode');
    const resolver = await rig.start(0, optionsOn(rig, connection));
    await rig.send(0, [ordinary]);
    await until('its visitor is being written', async () => {
      const { rows } = await rig.ownerPool.query<{ waits: boolean }>(
        `select exists (select from pg_locks where relation = 'visitors'::regclass and not granted) as waits`,
      );
      return rows[0]?.waits === true;
    });
    expect(gate.acknowledged(streams.ingest)).toEqual([]);
    expect(gate.passed.filter(({ subject }) => subject.startsWith('events.'))).toEqual([]);
    await holder.query('commit');
    holder.release();
    await until('it is acknowledged', () => gate.acknowledged(streams.ingest).length === 1);
    await resolver.stop(5_000);
  }));

test('order of effects: frames of an account that is moved to a queue are acknowledged only once the queue has their events', () =>
  onGatedLog(async ({ rig, gate, connection }) => {
    const store = createVisitorStore(rig.pool);
    const visitors: ResolverOptions['visitors'] = {
      distrust: () => store.distrust(),
      resolve: () => new Promise(() => undefined),
      lookUp: async (touches) => ({ ...(await store.lookUp(touches)), write: () => visitors.resolve(touches) }),
    };
    const small = { ...settings, waitingBytesMax: 64 * 1024, framesInFlightMax: 16 };
    const refused = gate.refuse(ingestOfAccount(0, rig.account));
    const resolver = await rig.start(0, { ...optionsOn(rig, connection), settings: small, visitors });
    resolver.done.catch(() => undefined);
    const ids = Array.from({ length: 40 }, (_, n) => `e${n}`);
    for (const id of ids)
      await rig.send(0, [{ id, body: { event: 'E', userId: 'u', properties: { pad: 'x'.repeat(4_000) } } }]);
    await until('copies were refused again and again', () => refused.messages.length >= 4);
    expect(gate.acknowledged(streams.ingest)).toEqual([]);
    gate.cut();
    const successor = await rig.start(0, optionsOn(rig, rig.pipelineConnection));
    await until('all are resolved', async () => (await rig.written()).length >= ids.length);
    expect((await rig.written()).map(({ event }) => event.id)).toEqual(ids);
    await successor.stop(5_000);
  }));

test.each(['before the purge', 'after the purge', 'while the log refuses the purge'] as const)(
  'order of effects: a resolver that ends %s of old checkpoints leaves a chain that its successor reads',
  (when) =>
    onGatedLog(async ({ rig, gate, connection }) => {
      const [events, idsMax] = [160, 64];
      const deduplication = { windowMs: 3_600_000, idsMax };
      // Each event gets its own checkpoint.
      const own = { ...settings, partEventsMax: 1, checkpointBytesMax: bytesPerHash, deduplication };
      const purge = `$JS.API.STREAM.PURGE.${streams.deduplication}`;
      const stopped = when.startsWith('while') ? gate.refuse(purge) : gate.hold(purge);
      const resolver = await rig.start(0, { connection, settings: own });
      resolver.done.catch(() => undefined);
      const sent = Array.from({ length: events }, (_, n) => ({ id: `e${n}`, body: { event: 'E', userId: 'u' } }));
      await rig.send(0, sent);
      await stopped.arrived;
      if (when.startsWith('after')) {
        const next = gate.hold(deduplicationSubject(0));
        stopped.release();
        await next.arrived;
      }
      await until('all are resolved', () => resolver.stats().resolved === events);
      // Without the acknowledgement the successor gets the frame again, but its table no longer has the ids of the
      // oldest events.
      await until('the log has the acknowledgement', async () => (await unacknowledged(rig)) === 0);
      // As if it were killed, the resolver does not connect again.
      gate.standStill();
      gate.cut();
      const successor = await rig.start(0, { settings: own });
      expect(successor.stats()['rebuild_frames']).toBeLessThan(events / 2);
      // Each of the 16 parts of the table holds at least this many of the newest ids.
      await rig.send(0, sent.slice(-idsMax / 16));
      await until('they are known', () => successor.stats().duplicates === idsMax / 16);
      expect(successor.stats()).toMatchObject({ resolved: 0, checkpoint_failures: 0 });
      await successor.stop(5_000);
    }),
);
