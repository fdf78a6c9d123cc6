import { availableParallelism } from 'node:os';

type Env = Readonly<Record<string, string>>;

/**
 * Environment of a service: the bench's settings, overridden by --set and by the scenario's variables. Throws if --set
 * names a variable of the scenario, because the result would show a setting that was not measured.
 */
export function serviceEnv(needed: Env, given: Env): Env {
  const taken = Object.keys(given).filter((name) => name in needed);
  if (taken.length > 0) throw new Error(`--set ${taken.join(', ')}: the scenario sets it itself`);
  return { ...benchSettings, ...given, ...needed };
}

const gibibyte = 1024 ** 3;

/** Settings in which the bench's services differ from the defaults; stored in every result. */
export const benchSettings: Readonly<Record<string, string>> = {
  // As the tuning page recommends for services on the same machine as their log, database, sink and load.
  LOG_PARTITIONS: String(Math.max(1, Math.floor(availableParallelism() / 2))),
  LOG_LEVEL: 'warn',
  // The default limits would end a long run, because the streams would be full.
  LOG_INGEST_BYTES_MAX: String(8 * gibibyte),
  LOG_EVENTS_BYTES_MAX: String(16 * gibibyte),
  // Limits above any load, because the bench measures the path and not the limits.
  RATE_LIMIT_EVENTS_PER_S: '10000000',
  RATE_LIMIT_BYTES_PER_S: '10000000000',
};
