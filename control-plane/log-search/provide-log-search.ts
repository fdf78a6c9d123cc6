import { followErasures } from '../../shared/nats/erasures/follow-erasures.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import type { Services } from '../api/services.ts';
import type { LogBuckets } from '../publishing/log-buckets.ts';
import { createLogSearches, logSearches } from './log-searches.ts';

export function provideLogSearch(
  { logBuckets, logger }: { readonly logBuckets: Pick<LogBuckets, 'connection' | 'buckets'>; readonly logger: Logger },
  services: Services,
  scope: Scope,
): void {
  const { connection } = logBuckets;
  const onError = (err: unknown): void =>
    logger.warn({ err }, 'reading erasures failed; the log is not searched until this succeeds');
  const erasures = scope.use(
    'erasures of log searches',
    followErasures({ connection, onError, isOnDemand: true }),
    (one) => one.stop(),
  );
  const onFailure = (err: unknown): void => logger.warn({ err }, 'searching the log failed');
  services.provide(logSearches, createLogSearches({ logBuckets, erasures, onFailure }));
}
