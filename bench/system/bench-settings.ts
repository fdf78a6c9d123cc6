import { availableParallelism } from 'node:os';

const gibibyte = 1024 ** 3;

/**
 * Settings of the services that are not their defaults. They stand in every result; scenarios that turn one of them
 * themselves, and `--set`, go before it.
 */
export const benchSettings: Readonly<Record<string, string>> = {
  // What TUNING.md says, for services that share the machine with their log, database, sink and load.
  LOG_PARTITIONS: String(Math.max(1, Math.floor(availableParallelism() / 2))),
  LOG_LEVEL: 'warn',
  // The streams' limits would end a long run for want of space, which is not what is measured.
  LOG_INGEST_BYTES_MAX: String(8 * gibibyte),
  LOG_EVENTS_BYTES_MAX: String(16 * gibibyte),
  // Above what any load reaches: the bench measures the path, not the limit.
  RATE_LIMIT_EVENTS_PER_S: '10000000',
};
