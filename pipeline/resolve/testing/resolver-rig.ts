import { randomUUID } from 'node:crypto';
import pg from 'pg';
import pino from 'pino';
import { envelopeHead, envelopePrefix } from '../../../shared/events/envelope.ts';
import type { EnvelopeKind } from '../../../shared/events/envelope.ts';
import { FrameWriter } from '../../../shared/events/frame.ts';
import { decodeResolved } from '../../../shared/events/resolved-event.ts';
import type { ResolvedEvent } from '../../../shared/events/resolved-event.ts';
import { connectLog } from '../../../shared/log/connection.ts';
import type { LogConnection } from '../../../shared/log/connection.ts';
import { openCursor } from '../../../shared/log/cursor.ts';
import { publish } from '../../../shared/log/publisher.ts';
import { eventsOfAccount, ingestSubject } from '../../../shared/log/subjects.ts';
import { ensureTopology, streams } from '../../../shared/log/topology.ts';
import type { JsonObject } from '../../../shared/process/json.ts';
import { createVisitorStore } from '../../../shared/visitors/postgres-visitor-store.ts';
import { startResolver } from '../resolver.ts';
import type { ResolverOptions } from '../resolver.ts';
import { resolverDefaults } from '../resolver-context.ts';

export type TestEvent = {
  readonly id?: string;
  readonly kind?: EnvelopeKind;
  readonly account?: string;
  readonly source?: string;
  readonly test?: boolean;
  readonly ip?: string;
  readonly ua?: string;
  readonly at?: number;
  readonly body: JsonObject;
};

/** A log and a database for tests of the resolver: puts frames in, starts resolvers, reads what came out. */
export async function createResolverRig(natsUrl: string, databaseUrl: string) {
  const connection = await connectLog({ url: natsUrl, name: 'resolver-test' });
  const bytesMax = 256 * 1024 * 1024;
  await ensureTopology(connection, {
    partitions: 4,
    replicas: 1,
    ingestBytesMax: bytesMax,
    eventsBytesMax: bytesMax,
    retryBytesMax: bytesMax,
    deadLetterBytesMax: bytesMax,
  });
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 20 });
  // A connection that breaks while idle is replaced by the pool.
  pool.on('error', () => undefined);
  const account = randomUUID();
  return {
    connection,
    pool,
    account,
    /** Puts events into one frame of the ingest log. */
    send: (partition: number, events: readonly TestEvent[]) =>
      publish(connection, ingestSubject(partition), frameOf(account, events), {
        msgId: randomUUID(),
        timeoutMs: 5_000,
      }),
    start: (partition: number, overrides: Partial<ResolverOptions> = {}) =>
      startResolver({
        partition,
        connection,
        visitors: createVisitorStore(pool),
        plans: () => undefined,
        settings: resolverDefaults,
        logger: pino({ level: 'silent' }),
        ...overrides,
      }),
    written: (of = account) => readEvents(connection, of),
    close: async () => {
      await connection.close();
      await pool.end();
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
    });
    writer.appendEnvelope(head, Buffer.from(JSON.stringify(event.body)));
  }
  return writer.bytes();
}

/** Every resolved event of an account, in the order of the log. */
async function readEvents(connection: LogConnection, account: string): Promise<ResolvedEvent[]> {
  const name = `test-${randomUUID()}`;
  const filterSubject = eventsOfAccount(account);
  const info = await connection.jsm.streams.info(streams.events, { subjects_filter: filterSubject });
  let left = Object.values(info.state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
  if (left === 0) return [];
  const cursor = await openCursor(connection, {
    consumer: {
      stream: streams.events,
      name,
      filterSubject,
      startFrom: 'first',
      ackWaitMs: 30_000,
      ackPendingMax: 10_000,
    },
    bufferedMax: 100,
  });
  const events: ResolvedEvent[] = [];
  while (left > 0) {
    for (const delivery of await cursor.take(100)) {
      events.push(...decodeResolved(delivery.data));
      delivery.ack();
      left -= 1;
    }
  }
  await cursor.close();
  await connection.jsm.consumers.delete(streams.events, name);
  return events;
}
