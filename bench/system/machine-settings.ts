import { availableParallelism } from 'node:os';

/**
 * What TUNING.md says to set by the size of the machine, for services that share it with their log, database, sink and
 * load. Scenarios that turn a setting themselves, and `--set`, go before it.
 */
export const machineSettings: Readonly<Record<string, string>> = {
  LOG_PARTITIONS: String(Math.max(1, Math.floor(availableParallelism() / 2))),
};
