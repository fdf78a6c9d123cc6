import { availableParallelism } from 'node:os';

type Env = Readonly<Record<string, string>>;

/**
 * Environment of a service: the bench's settings, what was given with --set, and before both what the scenario turns or
 * needs itself. Throws where --set names one of those: the result would say one thing and have measured another.
 */
export function serviceEnv(needed: Env, given: Env): Env {
  const taken = Object.keys(given).filter((name) => name in needed);
  if (taken.length > 0) throw new Error(`--set ${taken.join(', ')}: the scenario sets it itself`);
  return { ...benchSettings, ...given, ...needed };
}

const gibibyte = 1024 ** 3;

/**
 * Settings of the services that are not their defaults. They stand in every result; scenarios that turn one of them
 * themselves, and `--set`, go before it.
 */
export const benchSettings: Readonly<Record<string, string>> = {
  // As the tuning page says, for services that share the machine with their log, database, sink and load.
  LOG_PARTITIONS: String(Math.max(1, Math.floor(availableParallelism() / 2))),
  LOG_LEVEL: 'warn',
  // The streams' limits would end a long run for want of space, which is not what is measured.
  LOG_INGEST_BYTES_MAX: String(8 * gibibyte),
  LOG_EVENTS_BYTES_MAX: String(16 * gibibyte),
  // Above what any load reaches: the bench measures the path, not the limit.
  RATE_LIMIT_EVENTS_PER_S: '10000000',
  RATE_LIMIT_BYTES_PER_S: '10000000000',
};
