import type { Services } from '../api/services.ts';
import type { LogBuckets } from '../publishing/log-buckets.ts';
import { liveValues } from './live-values.ts';
import type { LiveValues } from './live-values.ts';
import { createLogFigures, logFigures } from './log-figures.ts';
import type { LogLook } from './log-figures.ts';

type HealthParts = { readonly logBuckets: LogBuckets; readonly values: LiveValues; now(): Date };

/** Provides the measured values of the pipelines and of the log. */
export function provideHealth({ logBuckets, values, now }: HealthParts, services: Services): LogLook {
  const { connection } = logBuckets;
  const figures = createLogFigures({ connection, partitions: () => logBuckets.partitions, now });
  services.provide(liveValues, values);
  services.provide(logFigures, figures);
  return figures;
}
