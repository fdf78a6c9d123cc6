import { fitToMachine, partitionsRule } from '../../runtime/fit-to-machine.ts';
import { readMachine } from '../../runtime/machine.ts';
import { defineSettings, fromEnv } from '../../runtime/settings.ts';
import { count, fittedCount } from '../../runtime/variables.ts';

const gibibyte = 1024 ** 3;
const dayMs = 86_400_000;
const streamBytes = { unit: 'bytes', minimum: 1024 ** 2 } as const;

const partitions = {
  LOG_PARTITIONS: fittedCount(
    'Partitions of the log, and so resolvers that can work at once. Fixed when the log is created, by the first service that starts: set it if several machines share the log',
    partitionsRule,
    { maximum: 256 },
  ),
};

/** How the log is stored: the same for every service. Bytes are bytes on disk before replication. */
export const { variables: topologyEnv, read: readTopologySettings } = defineSettings({
  partitions: fromEnv(partitions, (env) => env.LOG_PARTITIONS ?? fitToMachine(readMachine()).partitions),
  /** Whether the number of partitions is a default; if so, an existing log may have another number. */
  arePartitionsFitted: fromEnv(partitions, (env) => env.LOG_PARTITIONS === undefined),
  replicas: fromEnv({
    LOG_REPLICAS: count('Copies of each stream. 3 survives the loss of a server', 1, { maximum: 5 }),
  }),
  ingestBytesMax: fromEnv({
    LOG_INGEST_BYTES_MAX: count('Size of the stream of accepted events', gibibyte, streamBytes),
  }),
  eventsBytesMax: fromEnv({
    LOG_EVENTS_BYTES_MAX: count(
      'Size of the stream of resolved events, history for replay included',
      4 * gibibyte,
      streamBytes,
    ),
  }),
  retryBytesMax: fromEnv({
    LOG_RETRY_BYTES_MAX: count('Size of the stream of events that wait for another attempt', gibibyte, streamBytes),
  }),
  deadLetterBytesMax: fromEnv({
    LOG_DEAD_LETTERS_BYTES_MAX: count('Size of the stream of dead letters', gibibyte, streamBytes),
  }),
  deadLetterAgeMs: fromEnv({
    LOG_DEAD_LETTERS_AGE_MS: count('How long dead letters are kept, also those of deleted destinations', 30 * dayMs, {
      unit: 'ms',
      minimum: 3_600_000,
    }),
  }),
  ingestDeadLetterBytesMax: fromEnv({
    LOG_INGEST_DEAD_LETTERS_BYTES_MAX: count(
      'Size of each of two streams: one holds events and frames that no resolver could process, the other quarantined events. When a stream is full, its oldest messages are removed',
      128 * 1024 ** 2,
      streamBytes,
    ),
  }),
  deduplicationBytesMax: fromEnv({
    LOG_DEDUPLICATION_BYTES_MAX: count(
      'Size of the stream of ids seen: eight bytes for each id a partition remembers (RESOLVER_DEDUPLICATION_IDS_MAX), and a tenth more',
      gibibyte,
      streamBytes,
    ),
  }),
  /**
   * Maximum number of consumers of one stream: EVENTS and RETRY have one for each destination, and a few more.
   * nats-server 2.15 allows 1,000 if a stream has no limit of its own.
   */
  consumersMax: 100_000,
});

export type TopologySettings = ReturnType<typeof readTopologySettings>;
