import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { NatsServer } from '../../shared/embedded/nats/nats-server.ts';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { deleteConsumer, isRead, isUnread } from '../../shared/nats/consume/consumers.ts';
import { openPullConsumer } from '../../shared/nats/consume/pull-consumer.ts';
import {
  accountKey,
  dispatcherConsumer,
  eventsOfAccount,
  eventsOfAll,
  retrySubject,
} from '../../shared/contracts/subjects.ts';
import { decodePosition, encodePosition, positionKey } from '../../shared/contracts/destination-position.ts';
import {
  createConfigSigner,
  createConfigTrust,
  newConfigSigningKey,
} from '../../shared/contracts/config/signed-config.ts';
import type { ConfigTrust } from '../../shared/contracts/config/signed-config.ts';
import { openBuckets } from '../../shared/nats/buckets/open-buckets.ts';
import { countBySubject } from '../../shared/nats/messages/subject-log.ts';
import { publish } from '../../shared/nats/publish/publisher.ts';
import { listConsumerProgress } from '../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { asLogUser } from '../../shared/testing/as-log-user.ts';
import { openLogGate } from '../../shared/testing/log-gate.ts';
import { makeTestLog } from '../../shared/testing/make-test-log.ts';
import { startTestNats } from '../../shared/testing/servers.ts';
import { accountConfig, httpEntity } from '../testing/account-config.ts';
import { Retirement } from './retire-actors.ts';
import { testTopology } from '../../shared/testing/test-topology.ts';

let nats: NatsServer;
let connection: LogConnection;
/** Connected as the control plane, because no other user may write configuration. */
let publisher: LogConnection;

beforeAll(async () => {
  nats = await startTestNats();
  await makeTestLog({ url: nats.url }, testTopology({ partitions: 1 }));
  connection = await connectLog({ url: asLogUser(nats.url, 'pipeline'), name: 'retire-test' });
  publisher = await connectLog({ url: asLogUser(nats.url, 'controlPlane'), name: 'retire-test-publisher' });
});
afterAll(async () => {
  await Promise.all([connection?.close(), publisher?.close()]);
  await nats?.stop();
});

test('retired consumers: a consumer is unread once it has had no reader for the given time; a missing consumer is not', async () => {
  const consumer = {
    stream: streams.events,
    name: 'recent-events',
    filterSubject: eventsOfAll,
    startFrom: 'first',
    ackWaitMs: 30_000,
    ackPendingMax: 10,
  } as const;
  const noTimeMs = -1;
  expect(await isUnread(connection, consumer, noTimeMs)).toBe(false);
  const reader = await openPullConsumer(connection, { consumer, bufferedMax: 10 });
  const taking = reader.take(1);
  await expect.poll(() => isUnread(connection, consumer, noTimeMs)).toBe(false);
  await reader.close();
  await taking;
  await expect.poll(() => isUnread(connection, consumer, noTimeMs), { timeout: 20_000 }).toBe(true);
  const hourMs = 3_600_000;
  expect(await isUnread(connection, consumer, hourMs)).toBe(false);
});

/** A destination with a consumer and an event that waits for a retry, and the retirement under test. */
async function createDestination(first = connection) {
  const [accountId, destinationId] = [randomUUID(), randomUUID()];
  const buckets = await openBuckets(connection, 1);
  const { config } = await openBuckets(publisher, 1);
  const consumer = {
    stream: streams.events,
    name: dispatcherConsumer(destinationId),
    filterSubject: eventsOfAccount(accountId),
    startFrom: 'first',
    ackWaitMs: 30_000,
    ackPendingMax: 10,
  } as const;
  const read = () => openPullConsumer(connection, { consumer, bufferedMax: 10 });
  await (await read()).close();
  const subject = retrySubject(destinationId, 0);
  await publish(connection, subject, Buffer.from('waits'), { msgId: randomUUID(), timeoutMs: 5_000 });
  const facts: { trust: ConfigTrust; isOwner: boolean; isCurrent: boolean; known: readonly string[] } = {
    trust: createConfigTrust({}),
    isOwner: true,
    isCurrent: true,
    // Empty, as if this process's view of the account were older than the destination.
    known: [],
  };
  const retirementOn = (own: LogConnection): Retirement =>
    new Retirement({
      connection: own,
      trust: { accept: (...entry) => facts.trust.accept(...entry) },
      buckets,
      wanted: () => new Map([[accountId, new Set(facts.known)]]),
      owns: () => facts.isOwner,
      hasApplied: () => facts.isCurrent,
      logger: pino({ level: 'silent' }),
    });
  let retirement = retirementOn(first);
  const has = (destinations: readonly string[]): Promise<number> => {
    const entities = destinations.map((id) => httpEntity(id, 'http://127.0.0.1/'));
    const document = accountConfig(accountId, { destinations: entities });
    return config.put(accountKey(accountId), Buffer.from(JSON.stringify(document)));
  };
  return {
    accountId,
    destinationId,
    config,
    positions: buckets.positions,
    retries: () => countBySubject(connection, streams.retry, subject),
    read,
    facts,
    has,
    suspect: () => retirement.findForgotten(),
    /** Replaces the retirement by the one that a restarted process would have, without suspects. */
    succeed: () => (retirement = retirementOn(connection)),
    async rounds(count: number): Promise<void> {
      for (let round = 0; round < count; round += 1) await retirement.round();
    },
    /** Whether the consumer and the waiting retry still exist; fails if only one of them does. */
    async isThere(): Promise<boolean> {
      const consumers = await listConsumerProgress(connection, streams.events);
      const waiting = await countBySubject(connection, streams.retry, subject);
      const found = [consumers.some(({ name }) => name === consumer.name), waiting.get(subject) === 1];
      expect(new Set(found).size).toBe(1);
      return found[0] === true;
    },
  };
}

test('retirement: a destination in CONFIG is left alone, even if the view of this process is too old to have it', async () => {
  const it = await createDestination();
  await it.has([it.destinationId]);
  await it.suspect();
  await it.rounds(3);
  expect(await it.isThere()).toBe(true);
});

test('retirement: an actor that CONFIG does not have is retired in the second round, with its waiting events', async () => {
  const it = await createDestination();
  await it.has([]);
  await it.suspect();
  await it.rounds(1);
  expect(await it.isThere()).toBe(true);
  await it.rounds(1);
  expect(await it.isThere()).toBe(false);
});

test('order of effects: a retirement that fails before the waiting events are removed is finished by the next process', async () => {
  const gate = await openLogGate(nats.url);
  const gated = await connectLog({ url: asLogUser(gate.url, 'pipeline'), name: 'retire-test-gated' });
  const it = await createDestination(gated);
  await it.has([]);
  await it.suspect();
  const refused = gate.refuse(`$JS.API.STREAM.PURGE.${streams.retry}`);
  await expect(it.rounds(2)).rejects.toThrow('503');
  expect(refused.messages).toHaveLength(1);
  await gated.close(0);
  await gate.close();
  it.succeed();
  await it.suspect();
  await it.rounds(2);
  expect(await it.isThere()).toBe(false);
});

test('retirement: a deleted destination is found by its position if the log server has lost its consumer', async () => {
  const it = await createDestination();
  const key = positionKey(it.destinationId);
  const position = { v: 1, term: 1, owner: 'one', accountId: it.accountId, sinceMs: 0 } as const;
  await it.positions.put(key, encodePosition(position));
  await deleteConsumer(connection, streams.events, dispatcherConsumer(it.destinationId));
  await it.has([it.destinationId]);
  await it.suspect();
  await it.rounds(3);
  expect((await it.retries()).size).toBe(1);
  await it.has([]);
  it.succeed();
  await it.suspect();
  await it.rounds(2);
  expect((await it.retries()).size).toBe(0);
  const entry = (await it.positions.get(key))?.value ?? expect.unreachable();
  expect(decodePosition(entry)).toMatchObject({ accountId: it.accountId, retired: true });
});

test('retirement: an actor that is published between two rounds stays', async () => {
  const it = await createDestination();
  await it.has([]);
  await it.suspect();
  await it.rounds(1);
  await it.has([it.destinationId]);
  await it.rounds(3);
  expect(await it.isThere()).toBe(true);
});

test('retirement: an actor that is missing from a copy of CONFIG stays if this process knows it by now', async () => {
  const it = await createDestination();
  await it.has([]);
  await it.suspect();
  it.facts.known = [`dispatcher-${it.destinationId}`];
  await it.rounds(3);
  expect(await it.isThere()).toBe(true);
});

test('retirement: the actors of a removed account are retired', async () => {
  const it = await createDestination();
  await it.has([it.destinationId]);
  await it.config.delete(accountKey(it.accountId));
  await it.suspect();
  await it.rounds(2);
  expect(await it.isThere()).toBe(false);
});

test('retirement: nothing is retired for an entry that is missing, unreadable, or newer than what is applied', async () => {
  const it = await createDestination();
  await it.suspect();
  await it.rounds(3);
  expect(await it.isThere()).toBe(true);
  await it.config.put(accountKey(it.accountId), Buffer.from('{"v":999}'));
  await it.rounds(3);
  expect(await it.isThere()).toBe(true);
  await it.has([]);
  it.facts.isCurrent = false;
  await it.rounds(3);
  expect(await it.isThere()).toBe(true);
  it.facts.isCurrent = true;
  await it.rounds(2);
  expect(await it.isThere()).toBe(false);
});

test('retirement: nothing is retired for an entry that is not signed, or was deleted outside Sluice', async () => {
  const it = await createDestination();
  const signer = createConfigSigner({ CONFIG_SIGNING_KEY: newConfigSigningKey() });
  it.facts.trust = createConfigTrust({ CONFIG_PUBLIC_KEYS: signer?.publicKey });
  await it.has([]);
  await it.suspect();
  await it.rounds(3);
  expect(await it.isThere()).toBe(true);
  await it.config.delete(accountKey(it.accountId));
  await it.rounds(3);
  expect(await it.isThere()).toBe(true);
});

test('retirement: an actor of another instance, or with a consumer that is being read, is left alone', async () => {
  const it = await createDestination();
  await it.has([]);
  it.facts.isOwner = false;
  await it.suspect();
  it.facts.isOwner = true;
  await it.rounds(3);
  expect(await it.isThere()).toBe(true);
  const reader = await it.read();
  const taking = reader.take(1);
  await it.suspect();
  await expect.poll(() => isBeingRead(it.destinationId), { timeout: 20_000 }).toBe(true);
  await it.rounds(3);
  expect(await it.isThere()).toBe(true);
  await reader.close();
  await taking;
  await expect.poll(() => isBeingRead(it.destinationId), { timeout: 20_000 }).toBe(false);
  await it.rounds(2);
  expect(await it.isThere()).toBe(false);
});

const isBeingRead = (destinationId: string): Promise<boolean> =>
  isRead(connection, { stream: streams.events, name: dispatcherConsumer(destinationId) });
