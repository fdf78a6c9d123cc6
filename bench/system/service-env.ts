import { availableParallelism } from 'node:os';

type Env = Readonly<Record<string, string>>;

/**
 * Environment of a service: the bench's settings, overridden by --set, and by the scenario's own variables. Throws if
 * --set names one of the scenario's: the result would show a setting that was not measured.
 */
export function serviceEnv(needed: Env, given: Env): Env {
  const taken = Object.keys(given).filter((name) => name in needed);
  if (taken.length > 0) throw new Error(`--set ${taken.join(', ')}: the scenario sets it itself`);
  return { ...benchSettings, ...given, ...needed };
}

const gibibyte = 1024 ** 3;

/**
 * Settings of the services that are not their defaults, stored in every result. Scenarios and `--set` override them.
 */
export const benchSettings: Readonly<Record<string, string>> = {
  // As the tuning page recommends for services that share the machine with their log, database, sink and load.
  LOG_PARTITIONS: String(Math.max(1, Math.floor(availableParallelism() / 2))),
  LOG_LEVEL: 'warn',
  // With the default limits of the streams, a long run would end because they are full.
  LOG_INGEST_BYTES_MAX: String(8 * gibibyte),
  LOG_EVENTS_BYTES_MAX: String(16 * gibibyte),
  // Higher than any load: the bench measures the path, not the limit.
  RATE_LIMIT_EVENTS_PER_S: '10000000',
  RATE_LIMIT_BYTES_PER_S: '10000000000',
};
