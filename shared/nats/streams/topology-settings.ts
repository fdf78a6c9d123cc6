import type { Static, TObject } from 'typebox';
import { fitToMachine, partitionsRule } from '../../runtime/fit-to-machine.ts';
import { readMachine } from '../../runtime/machine.ts';
import { count, fittedCount } from '../../runtime/variables.ts';

/** Limits of the log. Bytes are bytes on disk before replication. */
export type TopologySettings = {
  readonly partitions: number;
  /** Whether this number is a default: the log may have any other. */
  readonly arePartitionsFitted: boolean;
  readonly replicas: number;
  readonly ingestBytesMax: number;
  readonly eventsBytesMax: number;
  readonly retryBytesMax: number;
  readonly deadLetterBytesMax: number;
  /** How long dead letters are kept, in ms. */
  readonly deadLetterAgeMs: number;
  readonly ingestDeadLetterBytesMax: number;
  readonly deduplicationBytesMax: number;
  /** Consumers of one stream. nats-server 2.15 allows 1,000 where a stream names none. */
  readonly consumersMax: number;
};

const gibibyte = 1024 ** 3;
/** Of each stream: one of EVENTS and one of RETRY for each destination, and a few more. */
const consumersMax = 100_000;
const dayMs = 86_400_000;
const streamBytes = { unit: 'bytes', minimum: 1024 ** 2 } as const;

/** How the log is kept: the same for every service. */
export const topologyEnv = {
  LOG_PARTITIONS: fittedCount(
    'Partitions of the log, and so resolvers that can work at once. Fixed when the log is created, by the first service that starts: set it where several machines share the log',
    partitionsRule,
    { maximum: 256 },
  ),
  LOG_REPLICAS: count('Copies of each stream. 3 survives the loss of a server', 1, { maximum: 5 }),
  LOG_INGEST_BYTES_MAX: count('Size of the stream of accepted events', gibibyte, streamBytes),
  LOG_EVENTS_BYTES_MAX: count(
    'Size of the stream of resolved events, history for replay included',
    4 * gibibyte,
    streamBytes,
  ),
  LOG_RETRY_BYTES_MAX: count('Size of the stream of events that wait for another attempt', gibibyte, streamBytes),
  LOG_DEAD_LETTERS_BYTES_MAX: count(
    'Size of the stream of dead letters. That of events and frames that no resolver could process has an eighth of it, as has that of quarantined events; when full, they lose the oldest',
    gibibyte,
    { unit: 'bytes', minimum: 8 * 1024 ** 2 },
  ),
  LOG_DEAD_LETTERS_AGE_MS: count('How long dead letters are kept, also those of deleted destinations', 30 * dayMs, {
    unit: 'ms',
    minimum: 3_600_000,
  }),
  LOG_DEDUPLICATION_BYTES_MAX: count(
    'Size of the stream of ids seen: eight bytes for each id a partition remembers (RESOLVER_DEDUPLICATION_IDS_MAX), and a tenth more',
    gibibyte,
    streamBytes,
  ),
};

export function readTopologySettings(env: Static<TObject<typeof topologyEnv>>): TopologySettings {
  return {
    partitions: env.LOG_PARTITIONS ?? fitToMachine(readMachine()).partitions,
    arePartitionsFitted: env.LOG_PARTITIONS === undefined,
    replicas: env.LOG_REPLICAS,
    ingestBytesMax: env.LOG_INGEST_BYTES_MAX,
    eventsBytesMax: env.LOG_EVENTS_BYTES_MAX,
    retryBytesMax: env.LOG_RETRY_BYTES_MAX,
    deadLetterBytesMax: env.LOG_DEAD_LETTERS_BYTES_MAX,
    deadLetterAgeMs: env.LOG_DEAD_LETTERS_AGE_MS,
    ingestDeadLetterBytesMax: Math.ceil(env.LOG_DEAD_LETTERS_BYTES_MAX / 8),
    deduplicationBytesMax: env.LOG_DEDUPLICATION_BYTES_MAX,
    consumersMax,
  };
}
