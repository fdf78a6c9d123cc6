import { noSuspicion } from '../../worker/suspicion.ts';
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { envelopeHead, envelopePrefix } from '../../../../shared/contracts/events/envelope.ts';
import type { EnvelopeKind } from '../../../../shared/contracts/events/envelope.ts';
import { FrameWriter } from '../../../../shared/contracts/events/frame.ts';
import { decodeResolved } from '../../../../shared/contracts/events/resolved-event.ts';
import { client } from '../../../../shared/nats/connection/client.ts';
import { connectLog } from '../../../../shared/nats/connection/connection.ts';
import type { LogConnection } from '../../../../shared/nats/connection/connection.ts';
import { openPullConsumer } from '../../../../shared/nats/consume/pull-consumer.ts';
import type { LogMessage } from '../../../../shared/nats/messages/log-message.ts';
import { publishWithRetry } from '../../../../shared/nats/publish/publisher.ts';
import {
  allIngestDeadLetters,
  eventsOfAccount,
  ingestSubject,
  readIngestDeadLetterSubject,
} from '../../../../shared/contracts/subjects.ts';
import { streams } from '../../../../shared/nats/streams/topology.ts';
import { defaultsOf } from '../../../../shared/runtime/env.ts';
import type { JsonObject } from '../../../../shared/runtime/json.ts';
import { asDatabaseRole } from '../../../../shared/testing/as-database-role.ts';
import { asLogUser } from '../../../../shared/testing/as-log-user.ts';
import { makeTestLog } from '../../../../shared/testing/make-test-log.ts';
import { openTestPool } from '../../../../shared/testing/test-pool.ts';
import { createVisitorStore } from '../../../../shared/visitors/postgres-visitor-store.ts';
import { memoryTrustedMs } from '../../../../shared/visitors/trusted-memory.ts';
import { ingestDeadLetterHeaders } from '../../../../shared/contracts/events/dead-letter.ts';
import { noRecorder } from '../../recent/testing/no-recorder.ts';
import { startResolver } from '../resolver.ts';
import type { ResolverOptions } from '../resolver-options.ts';
import { readResolverSettings, resolverEnv } from '../resolver-settings.ts';
import { createIdentityStore } from '../identity-writer.ts';
import { createPersonalDataStore } from '../personal-data-writer.ts';
import { createViolationStore } from '../write-violations.ts';
import { noWithdrawals } from './no-withdrawals.ts';
import { testTopology } from '../../../../shared/testing/test-topology.ts';

/** The resolver's default settings. */
export const defaultSettings = readResolverSettings(defaultsOf(resolverEnv));

export type TestEvent = {
  readonly id?: string;
  readonly kind?: EnvelopeKind;
  readonly account?: string;
  readonly source?: string;
  readonly test?: boolean;
  readonly ip?: string;
  readonly ua?: string;
  readonly at?: number;
  readonly bot?: number;
  readonly gpc?: boolean;
  readonly body: JsonObject;
};

export type ResolverRig = Awaited<ReturnType<typeof createResolverRig>>;

/** A log and a database for tests of the resolver: puts frames in, starts resolvers, and reads their results. */
export async function createResolverRig(natsUrl: string, databaseUrl: string) {
  await makeTestLog({ url: natsUrl }, testTopology({ partitions: 4, streamBytesMax: 256 * 1024 ** 2 }));
  const connection = await connectLog({ url: natsUrl, name: 'resolver-test' });
  const pipelineConnection = await connectLog({ url: asLogUser(natsUrl, 'pipeline'), name: 'resolver' });
  const pool = openTestPool(await asDatabaseRole(databaseUrl, 'pipeline'), 20);
  const ownerPool = openTestPool(databaseUrl, 4);
  const account: string = randomUUID();
  return {
    /** The operator's connection, with which the test reads and changes the log. */
    connection,
    /** The connection that the resolvers use. */
    pipelineConnection,
    /** The pool that the resolvers use. */
    pool,
    /** The owner's pool, with which the test changes rows. */
    ownerPool,
    account,
    /** Puts events into one frame of the ingest log. */
    send: (partition: number, events: readonly TestEvent[]) =>
      publishWithRetry(
        connection,
        { subject: ingestSubject(partition), payload: frameOf(account, events), msgId: randomUUID() },
        {},
      ),
    start: (partition: number, overrides: Partial<ResolverOptions> = {}) =>
      startResolver({
        partition,
        connection: pipelineConnection,
        visitors: createVisitorStore(pool, { trustedMs: memoryTrustedMs }),
        withdrawals: noWithdrawals,
        costBudget: { recordActivity: () => undefined },
        plans: () => undefined,
        violationStore: createViolationStore(pool),
        identityStore: createIdentityStore(pool),
        personalDataStore: createPersonalDataStore(pool),
        isOnlyAccount: () => false,
        settings: defaultSettings,
        logger: pino({ level: 'silent' }),
        beginTurn: () => undefined,
        suspicion: noSuspicion,
        openRecorder: () => Promise.resolve(noRecorder),
        ...overrides,
      }),
    written: async (of = account) => {
      const frames = await readSubject(connection, streams.events, eventsOfAccount(of));
      return frames.flatMap(({ data }) => decodeResolved(data));
    },
    writtenFrames: async (of = account) => {
      const frames = await readSubject(connection, streams.events, eventsOfAccount(of));
      return frames.map(({ seq, data }) => ({ seq, events: decodeResolved(data) }));
    },
    deadLetters: async () => {
      const letters = await readSubject(connection, streams.ingestDeadLetters, allIngestDeadLetters);
      return letters.map(({ data, subject, header }) => ({
        accountId: readIngestDeadLetterSubject(subject).accountId,
        text: Buffer.from(data).toString('utf8'),
        reason: header(ingestDeadLetterHeaders.reason),
      }));
    },
    close: async () => {
      await Promise.all([connection.close(), pipelineConnection.close()]);
      await Promise.all([pool.end(), ownerPool.end()]);
    },
  };
}

export function frameOf(account: string, events: readonly TestEvent[]): Uint8Array {
  const writer = new FrameWriter();
  for (const event of events) {
    const prefix = envelopePrefix({
      account: event.account ?? account,
      source: event.source ?? 'source-1',
      test: event.test ?? false,
    });
    const head = envelopeHead(prefix, {
      kind: event.kind ?? 'track',
      id: event.id ?? randomUUID(),
      at: event.at ?? Date.now(),
      ip: event.ip,
      ua: event.ua,
      bot: event.bot,
      gpc: event.gpc,
    });
    writer.appendEnvelope(head, Buffer.from(JSON.stringify(event.body)));
  }
  return writer.bytes();
}

/** Runs a test with an empty log and a new account. */
export async function onEmptyLog(
  natsUrl: string,
  databaseUrl: string,
  work: (rig: ResolverRig) => Promise<void>,
): Promise<void> {
  const rig = await createResolverRig(natsUrl, databaseUrl);
  try {
    for (const stream of [streams.ingest, streams.events, streams.ingestDeadLetters, streams.deduplication]) {
      await rig.connection[client].jsm.streams.purge(stream);
    }
    await work(rig);
  } finally {
    await rig.close();
  }
}

/** All messages of a subject, in order. */
async function readSubject(connection: LogConnection, stream: string, filterSubject: string): Promise<LogMessage[]> {
  const info = await connection[client].jsm.streams.info(stream, { subjects_filter: filterSubject });
  const total = Object.values(info.state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
  if (total === 0) return [];
  const name = `test-${randomUUID()}`;
  const pullConsumer = await openPullConsumer(connection, {
    consumer: { stream, name, filterSubject, startFrom: 'first', ackWaitMs: 30_000, ackPendingMax: 10_000 },
    bufferedMax: 100,
  });
  const messages: LogMessage[] = [];
  while (messages.length < total) messages.push(...(await pullConsumer.take(100)));
  await pullConsumer.close();
  await connection[client].jsm.consumers.delete(stream, name);
  return messages;
}
