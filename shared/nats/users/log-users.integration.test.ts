import { AckPolicy, DeliverPolicy } from 'nats';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allBackpressure, backpressureKey, encodeBackpressure } from '../../contracts/backpressure.ts';
import {
  accountKey,
  deadLetterSubject,
  erasuresSubject,
  eventsSubject,
  ingestSubject,
  resolverConsumer,
  withdrawalsSubject,
} from '../../contracts/subjects.ts';
import type { NatsServer } from '../../embedded/nats/nats-server.ts';
import { startTestNats } from '../../testing/servers.ts';
import { testTopology } from '../../testing/test-topology.ts';
import { countKeys, readBucket } from '../buckets/bucket.ts';
import { openBuckets, openGatewayBuckets, openGatewayConfig } from '../buckets/open-buckets.ts';
import { claimInstanceId } from '../buckets/instance-claim.ts';
import { client } from '../connection/client.ts';
import { connectLog } from '../connection/connection.ts';
import type { LogConnection } from '../connection/connection.ts';
import { isNotPermitted } from '../connection/server-error.ts';
import { openPullConsumer } from '../consume/pull-consumer.ts';
import { keepLoss, listLosses } from '../messages/lost-messages.ts';
import { readMessages } from '../messages/read-messages.ts';
import { deleteMessage, purgeSubject, readLast, readNext, readStored } from '../messages/subject-log.ts';
import { inspectLog } from '../monitor/inspect-log.ts';
import { createFramePublisher } from '../publish/frame-publisher.ts';
import { announceErasure } from '../../testing/announce-erasure.ts';
import { announceWithdrawals } from '../erasures/announce-withdrawals.ts';
import { followErasures } from '../erasures/follow-erasures.ts';
import { publish } from '../publish/publisher.ts';
import { findSeqAt } from '../messages/find-seq-at.ts';
import { readConsumerProgress } from '../streams/stream-progress.ts';
import { buckets, ensureTopology, streams } from '../streams/topology.ts';
import { logUsers } from './log-users.ts';
import type { LogUserName } from './log-users.ts';
import { quote, renderAccounts } from './render-users.ts';

const password = 'a password of a test';
const names = Object.keys(logUsers) as readonly LogUserName[];
const topology = testTopology({ partitions: 1 });
const frame = Buffer.from('a frame');

let server: NatsServer;
let as: Readonly<Record<LogUserName, LogConnection>>;

const connectAs = (name: LogUserName): Promise<LogConnection> =>
  connectLog({
    url: server.url,
    name,
    login: { kind: 'password', user: logUsers[name].name, password: `${password} ${name}` },
  });

beforeAll(async () => {
  const furtherConfig = renderAccounts((name) => quote(`${password} ${name}`));
  server = await startTestNats({ syncAlways: false, furtherConfig });
  const connected = await Promise.all(names.map(async (name) => [name, await connectAs(name)] as const));
  as = Object.fromEntries(connected) as Record<LogUserName, LogConnection>;
  // A gateway that starts first waits for the services that may create its streams.
  await Promise.all([as.gateway, as.controlPlane].map((connection) => ensureTopology(connection, topology)));
  await Promise.all([as.gateway, as.pipeline, as.controlPlane].map((connection) => openBuckets(connection, 1)));
  const publisher = createFramePublisher(as.pipeline);
  await publisher.publish(eventsSubject('account-1', 0), frame, 'event', 5_000);
  await publisher.publish(deadLetterSubject('destination-1'), frame, 'letter', 5_000);
});

afterAll(async () => {
  await Promise.all(Object.values(as).map((connection) => connection.close()));
  await server.stop();
});

const request = (user: LogUserName, subject: string, body: unknown = {}): Promise<unknown> =>
  as[user][client].nc.request(subject, JSON.stringify(body), { timeout: 5_000 });

const deliverTo = (deliverSubject: string): object => ({
  stream_name: streams.events,
  config: { deliver_subject: deliverSubject, ack_policy: AckPolicy.None, deliver_policy: DeliverPolicy.All },
});

/** What an attacker with the credentials of a service would try next. */
const forbidden: readonly [user: LogUserName, what: string, subject: string, body?: unknown][] = [
  ['gateway', 'read a resolved event', `$JS.API.STREAM.MSG.GET.${streams.events}`, { seq: 1 }],
  ['gateway', 'read one from a copy', `$JS.API.DIRECT.GET.${streams.events}`, { seq: 1 }],
  ['gateway', 'have events handed out', `$JS.API.CONSUMER.CREATE.${streams.events}`, deliverTo('_INBOX.any')],
  ['gateway', 'have accepted events handed out', `$JS.API.CONSUMER.CREATE.${streams.ingest}`, deliverTo('_INBOX.any')],
  ['gateway', 'take events from a resolver', `$JS.API.CONSUMER.MSG.NEXT.${streams.ingest}.resolver-0`],
  ['gateway', 'read accepted events', `$JS.API.STREAM.MSG.GET.${streams.ingest}`, { seq: 1 }],
  ['gateway', 'forge a resolved event', eventsSubject('account-1', 0)],
  ['gateway', 'forge a retry', 'retry.destination-1.0'],
  ['gateway', 'delete a stream', `$JS.API.STREAM.DELETE.${streams.events}`],
  ['gateway', 'empty a stream', `$JS.API.STREAM.PURGE.${streams.ingest}`],
  ['gateway', 'change a stream', `$JS.API.STREAM.UPDATE.${streams.ingest}`],
  ['gateway', 'publish configuration', `$KV.CONFIG.${accountKey('account-1')}`],
  ['gateway', 'say that a pipeline is alive', '$KV.LEASES.pipeline.other'],
  ['gateway', 'write what became of deliveries', '$KV.HEALTH.destination.destination-1.other'],
  ['gateway', "read an account's whole configuration", '$JS.API.STREAM.MSG.GET.KV_CONFIG', { seq: 1 }],
  ['gateway', 'read it by its key', '$JS.API.STREAM.MSG.GET.KV_CONFIG', { last_by_subj: '$KV.CONFIG.account.one' }],
  ['gateway', 'read it from a copy', '$JS.API.DIRECT.GET.KV_CONFIG', { seq: 1 }],
  ['gateway', 'read it from a copy by its key', '$JS.API.DIRECT.GET.KV_CONFIG.$KV.CONFIG.account.one'],
  ['gateway', 'have it handed out', '$JS.API.CONSUMER.CREATE.KV_CONFIG', deliverTo('_INBOX.any')],
  ['gateway', 'have it handed out by name', '$JS.API.CONSUMER.CREATE.KV_CONFIG.mine', deliverTo('_INBOX.any')],
  ['gateway', 'have one account handed out', '$JS.API.CONSUMER.CREATE.KV_CONFIG.mine.$KV.CONFIG.account.one'],
  ['gateway', 'have a durable consumer of it', '$JS.API.CONSUMER.DURABLE.CREATE.KV_CONFIG.mine'],
  ['gateway', 'pull it from a consumer', '$JS.API.CONSUMER.MSG.NEXT.KV_CONFIG.mine'],
  ['gateway', 'publish its own configuration', `$KV.GATEWAY_CONFIG.${accountKey('account-1')}`],
  ['pipeline', 'publish configuration of gateways', `$KV.GATEWAY_CONFIG.${accountKey('account-1')}`],
  ['gateway', 'read tokens of platforms', '$JS.API.STREAM.MSG.GET.KV_TOKENS', { seq: 1 }],
  ['gateway', 'ask for a replay', '$KV.REPLAYS.replay.destination-1.1'],
  ['gateway', 'answer in the name of the log', `_INBOX.${logUsers.pipeline.name}.any`],
  ['pipeline', 'publish configuration', `$KV.CONFIG.${accountKey('account-1')}`],
  ['pipeline', 'change the stream of configuration', '$JS.API.STREAM.UPDATE.KV_CONFIG'],
  ['pipeline', 'delete a stream', `$JS.API.STREAM.DELETE.${streams.ingest}`],
  ['pipeline', 'answer in the name of the log', `_INBOX.${logUsers.controlPlane.name}.any`],
  ['controlPlane', 'forge a resolved event', eventsSubject('account-1', 0)],
  ['controlPlane', 'forge a dead letter', deadLetterSubject('destination-1')],
  [
    'controlPlane',
    'have accepted events handed out',
    `$JS.API.CONSUMER.CREATE.${streams.ingest}`,
    deliverTo('_INBOX.any'),
  ],
  ['controlPlane', 'take events from a resolver', `$JS.API.CONSUMER.MSG.NEXT.${streams.ingest}.resolver-0`],
  ['controlPlane', 'empty a stream', `$JS.API.STREAM.PURGE.${streams.events}`],
  ['controlPlane', 'delete a stream', `$JS.API.STREAM.DELETE.${streams.events}`],
  ['gateway', 'ask how far a destination is', `$JS.API.CONSUMER.INFO.${streams.events}.dispatcher-1`],
  ['gateway', 'announce an erasure', erasuresSubject('account-1')],
  ['pipeline', 'announce an erasure', erasuresSubject('account-1')],
  ['doctor', 'announce an erasure', erasuresSubject('account-1')],
  ['gateway', 'announce a withdrawn consent', withdrawalsSubject('account-1')],
  ['doctor', 'announce a withdrawn consent', withdrawalsSubject('account-1')],
  ['doctor', 'read an event', `$JS.API.STREAM.MSG.GET.${streams.events}`, { seq: 1 }],
  ['doctor', 'read configuration', '$JS.API.STREAM.MSG.GET.KV_CONFIG', { seq: 1 }],
  ['doctor', 'add an event', ingestSubject(0)],
  ['doctor', 'change a stream', `$JS.API.STREAM.UPDATE.${streams.events}`],
  ['doctor', 'say that a process is alive', '$KV.LEASES.gateway.other'],
];

test.each(forbidden)('users: %s may not %s', async (user, _what, subject, body) => {
  const failure = await request(user, subject, body).catch((error: unknown) => error);
  expect({ failure, isNotPermitted: isNotPermitted(failure) }).toMatchObject({ isNotPermitted: true });
});

test.each(names.filter((name) => name !== 'operator'))("users: %s does not hear others' replies", async (name) => {
  const other = names.find((one) => one !== name) ?? name;
  for (const subject of ['>', '_INBOX.>', `_INBOX.${logUsers[other].name}.>`, `$KV.>`]) {
    const failure = await new Promise((resolve) => {
      as[name][client].nc.subscribe(subject, { callback: (error) => resolve(error) });
    });
    expect({ subject, isNotPermitted: isNotPermitted(failure) }).toEqual({ subject, isNotPermitted: true });
  }
});

test('users: a gateway adds events, has its lease, and follows the configuration', async () => {
  const publisher = createFramePublisher(as.gateway);
  expect(await publisher.publish(ingestSubject(0), frame, 'one', 5_000)).toBeUndefined();
  const { leases, health } = await openGatewayBuckets(as.gateway, 1);
  await claimInstanceId(leases, { kind: 'gateway', instanceId: 'one' });
  await leases.delete('gateway.one');
  await health.put('source.source-1.one', frame);
  expect(Buffer.from((await health.get('source.source-1.one'))?.value ?? []).toString()).toBe('a frame');
  const seen: string[] = [];
  const watch = await (await openGatewayConfig(as.gateway, 1)).watch({ onEntry: ({ key }) => seen.push(key) });
  await (await openBuckets(as.controlPlane, 1)).gatewayConfig.put(accountKey('account-1'), Buffer.from('{}'));
  await expect.poll(() => seen).toContain(accountKey('account-1'));
  watch.stop();
  // Before a gateway starts, it compares the numbers of accounts in both buckets.
  expect(await countKeys(as.gateway, buckets.config, 'account.*')).toBe(0);
});

test('users: a gateway may read the progress of the resolver of a partition', async () => {
  expect(await readConsumerProgress(as.gateway, streams.ingest, resolverConsumer(7))).toBeUndefined();
});

test('users: a gateway follows the backpressure that pipelines report', async () => {
  const seen: string[] = [];
  const { leases } = await openBuckets(as.gateway, 1);
  const watch = await leases.watch({ filter: allBackpressure, onEntry: ({ key }) => seen.push(key) });
  const told = await openBuckets(as.pipeline, 1);
  await told.leases.put(backpressureKey('one'), encodeBackpressure({ v: 1, accounts: [] }));
  await expect.poll(() => seen).toEqual([backpressureKey('one')]);
  watch.stop();
});

test('users: a pipeline takes, reads back and removes events, and may change the size of a stream', async () => {
  await publish(as.gateway, ingestSubject(0), frame, { timeoutMs: 5_000, msgId: 'two' });
  const consumer = await openPullConsumer(as.pipeline, {
    consumer: {
      stream: streams.ingest,
      name: 'resolver-0',
      filterSubject: ingestSubject(0),
      startFrom: 'first',
      ackWaitMs: 30_000,
      ackPendingMax: 10,
    },
    bufferedMax: 10,
  });
  const [taken] = await consumer.take(1);
  expect(Buffer.from(taken?.data ?? []).toString()).toBe('a frame');
  expect(await taken?.ackConfirmed(5_000)).toBe(true);
  await consumer.close();
  let read = 0;
  await readMessages(as.pipeline, {
    stream: streams.events,
    filterSubject: 'events.*.*',
    from: { seq: 1 },
    content: 'headers',
    messagesPerPull: 10,
    silenceMaxMs: 10_000,
    onMessage: () => void (read += 1),
  });
  expect(read).toBeGreaterThan(0);
  expect(await readStored(as.pipeline, streams.events, 1)).toBeDefined();
  expect(await purgeSubject(as.pipeline, streams.ingest, ingestSubject(0), 2)).toBeLessThan(2);
  await ensureTopology(as.pipeline, { ...topology, retryBytesMax: topology.retryBytesMax * 2 });
});

test('users: a control plane announces erasures and refusals, and a pipeline and a control plane follow them', async () => {
  const followed = [as.controlPlane, as.pipeline].map((connection) =>
    followErasures({ connection, onError: (error) => expect.unreachable(String(error)) }),
  );
  try {
    const erasure = { id: 'one', accountId: 'account-1', visitorIds: ['ann'], atMs: 1_000, isAhead: false };
    await announceErasure(as.controlPlane, erasure);
    const refusal = { accountId: 'account-1', visitorIds: ['bob'], words: { ads: false }, atMs: 1_000 };
    await announceWithdrawals(as.controlPlane, [refusal]);
    for (const erasures of followed) {
      await expect.poll(() => erasures.isErased('account-1', { visitorId: 'ann', receivedAtMs: 1_000 })).toBe(true);
      const words = () => erasures.lastWords('account-1', { visitorId: 'bob', receivedAtMs: 1_000 });
      await expect.poll(() => words()?.get('ads')?.isDenial).toBe(true);
    }
  } finally {
    for (const erasures of followed) await erasures.stop();
  }
});

test('users: a control plane requests replays and reads dead letters, and both it and the doctor inspect every stream', async () => {
  const { replays, health } = await openBuckets(as.controlPlane, 1);
  await replays.put('replay.destination-1.1', frame);
  expect(await health.keys('none.>')).toEqual([]);
  const letter = await readLast(as.controlPlane, streams.deadLetters, deadLetterSubject('destination-1'));
  expect(letter).toBeDefined();
  let letters = 0;
  await readMessages(as.controlPlane, {
    stream: streams.deadLetters,
    filterSubject: 'dead.*',
    from: { seq: 1 },
    content: 'all',
    messagesPerPull: 10,
    silenceMaxMs: 10_000,
    onMessage: () => void (letters += 1),
  });
  expect(letters).toBe(1);
  for (const stream of [streams.ingest, streams.erasures, streams.withdrawals]) {
    await readNext(as.controlPlane, stream, '>', 1);
  }
  await findSeqAt(as.controlPlane, streams.events, Date.now());
  await deleteMessage(as.controlPlane, streams.deadLetters, letter?.seq ?? 0);
  expect(await readLast(as.controlPlane, streams.deadLetters, deadLetterSubject('destination-1'))).toBeUndefined();
  expect(await purgeSubject(as.controlPlane, streams.deadLetters, deadLetterSubject('destination-1'), 2)).toBe(0);
  for (const name of ['controlPlane', 'doctor'] as const) {
    const { streams: found } = await inspectLog(as[name], topology);
    expect(found.filter(({ differences }) => differences === undefined)).toEqual([]);
  }
  const { leases } = await openBuckets(as.pipeline, 1);
  await leases.put('pipeline.one', frame);
  for (const name of ['controlPlane', 'doctor'] as const) {
    expect([...((await readBucket(as[name], buckets.leases)) ?? [])].map(([key]) => key)).toContain('pipeline.one');
  }
  await keepLoss(as.pipeline, { stream: streams.events, subject: 'events.a.0', seq: 7 });
  expect(await listLosses(as.doctor)).toMatchObject([{ stream: streams.events, seq: 7 }]);
});

test('users: the operator may purge a stream', async () => {
  await as.operator[client].jsm.streams.purge(streams.canary);
  expect(Object.keys(logUsers)).toContain('operator');
});

test('gateway: does not wait for a stream it does not use, so it may be upgraded before the services that create the stream', async () => {
  await as.operator[client].jsm.streams.delete(streams.erasures);
  const own = [streams.ingest, streams.canary];
  const { created, partitions } = await ensureTopology(as.gateway, topology, undefined, own);
  expect({ created, partitions }).toEqual({ created: [], partitions: topology.partitions });
  expect((await ensureTopology(as.pipeline, topology)).created).toEqual([streams.erasures]);
});
