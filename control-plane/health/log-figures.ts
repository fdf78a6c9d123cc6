import {
  resolverConsumer,
  deadLetterSubject,
  dispatcherConsumer,
  ingestSubject,
  retriesOfDestination,
} from '../../shared/contracts/subjects.ts';
import type { LogConnection } from '../../shared/nats/connection/connection.ts';
import { decodeRetryFrame, settledNoteTier } from '../../shared/contracts/events/retry-record.ts';
import { countBySubject, readNext } from '../../shared/nats/messages/subject-log.ts';
import type { StoredMessage } from '../../shared/nats/messages/subject-log.ts';
import { listConsumerProgress } from '../../shared/nats/streams/stream-progress.ts';
import type { ConsumerProgress } from '../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { defineService } from '../api/services.ts';

/** The backlog of one destination. A frame is a message of the log: one event or many. */
export type DestinationBacklog = {
  readonly waitingFrames: number;
  readonly retryingFrames: number;
  readonly deadLetters: number;
};

/** The backlog of one partition of accepted events. */
export type PartitionBacklog = {
  readonly partition: number;
  readonly waitingFrames: number;
  /** How long the oldest waiting event has waited, in ms; null if no event waits. */
  readonly oldestMs: number | null;
};

/** The backlogs in the log, as of the last reading. */
export type LogFigures = {
  backlogOf(destinationId: string): DestinationBacklog;
  readonly partitions: readonly PartitionBacklog[];
};

export type LogLook = {
  read(): Promise<LogFigures>;
  /**
   * Approximate time at which the oldest event that the destination has not finished was resolved, in ms since the
   * epoch; undefined if it has finished all events.
   */
  unsentSince(destinationId: string): Promise<number | undefined>;
};

export const logFigures = defineService<LogLook>('log figures');

/**
 * Reads the log at most once in `freshMs` for all requests, because a reading costs the server work for each consumer.
 */
export function createLogFigures(
  { connection, partitions, now }: { readonly connection: LogConnection; partitions(): number; now(): Date },
  freshMs = 2_000,
): LogLook {
  let newest: { readonly atMs: number; readonly figures: Promise<LogFigures> } | undefined;
  return {
    read() {
      const atMs = performance.now();
      if (newest !== undefined && atMs - newest.atMs < freshMs) return newest.figures;
      const figures = look(connection, partitions(), now().getTime());
      newest = { atMs, figures };
      return figures;
    },
    unsentSince: (destinationId) => findUnsentSince(connection, destinationId),
  };
}

async function findUnsentSince(connection: LogConnection, destinationId: string): Promise<number | undefined> {
  const consumers = await listConsumerProgress(connection, streams.events);
  const reader = consumers.find(({ name }) => name === dispatcherConsumer(destinationId));
  const tiers = await countBySubject(connection, streams.retry, retriesOfDestination(destinationId));
  const oldest = await Promise.all([
    ...(reader === undefined || framesOf(reader) === 0
      ? []
      : [
          readNext(connection, streams.events, reader.filterSubject, reader.ackedSeq + 1).then(
            (one) => one?.storedAtMs,
          ),
        ]),
    ...[...tiers.keys()]
      .filter((subject) => !isNote(subject))
      .map((subject) => readNext(connection, streams.retry, subject, 1).then(oldestReceivedMs)),
  ]);
  const known = oldest.filter((atMs) => atMs !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Whether a message contains no event, only a note about events. */
const isNote = (subject: string): boolean => subject.endsWith(`.${settledNoteTier}`);

/** When the oldest event of a message was received. Retried events keep their time of receipt. */
function oldestReceivedMs(message: StoredMessage | undefined): number | undefined {
  if (message === undefined) return undefined;
  try {
    const received = decodeRetryFrame(message.data).map(({ receivedAt }) => receivedAt);
    return Math.min(message.storedAtMs, ...received);
  } catch {
    // A frame that another build wrote may be unreadable; use the time at which it was stored.
    return message.storedAtMs;
  }
}

async function look(connection: LogConnection, partitions: number, nowMs: number): Promise<LogFigures> {
  const [dispatchers, resolvers, retries, deadLetters] = await Promise.all([
    listConsumerProgress(connection, streams.events),
    listConsumerProgress(connection, streams.ingest),
    countBySubject(connection, streams.retry, 'retry.*.*'),
    countBySubject(connection, streams.deadLetters, 'dead.*'),
  ]);
  const byName = new Map(dispatchers.map((one) => [one.name, one]));
  const retryCounts = new Map<string, number>();
  for (const [subject, count] of retries) {
    if (isNote(subject)) continue;
    const ofDestination = retriesOfDestination(subject.split('.')[1] ?? '');
    retryCounts.set(ofDestination, (retryCounts.get(ofDestination) ?? 0) + count);
  }
  const oldest = Array.from({ length: partitions }, (_, partition) => lookAt(connection, partition, resolvers, nowMs));
  return {
    partitions: await Promise.all(oldest),
    backlogOf: (id) => ({
      waitingFrames: framesOf(byName.get(dispatcherConsumer(id))),
      retryingFrames: retryCounts.get(retriesOfDestination(id)) ?? 0,
      deadLetters: deadLetters.get(deadLetterSubject(id)) ?? 0,
    }),
  };
}

async function lookAt(
  connection: LogConnection,
  partition: number,
  resolvers: readonly ConsumerProgress[],
  nowMs: number,
): Promise<PartitionBacklog> {
  const resolver = resolvers.find(({ name }) => name === resolverConsumer(partition));
  const waitingFrames = framesOf(resolver);
  if (resolver === undefined || waitingFrames === 0) return { partition, waitingFrames, oldestMs: null };
  const first = await readNext(connection, streams.ingest, ingestSubject(partition), resolver.ackedSeq + 1);
  return { partition, waitingFrames, oldestMs: first === undefined ? null : Math.max(0, nowMs - first.storedAtMs) };
}

const framesOf = (consumer: ConsumerProgress | undefined): number =>
  consumer === undefined ? 0 : consumer.waiting + consumer.unacknowledged;
