import { followErasures } from '../../shared/nats/erasures/follow-erasures.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Scope } from '../../shared/runtime/scope.ts';
import type { Services } from '../api/services.ts';
import type { LogBuckets } from '../publishing/log-buckets.ts';
import { createReplayService, replays } from './replay-service.ts';

export function provideReplays(
  { logBuckets, logger }: { readonly logBuckets: LogBuckets; readonly logger: Logger },
  services: Services,
  scope: Scope,
): void {
  const { connection } = logBuckets;
  const onError = (err: unknown): void =>
    logger.warn({ err }, 'reading erasures failed; dead letters are not shown until this succeeds');
  const erasures = scope.use('erasures', followErasures({ connection, onError, isOnDemand: true }), (one) =>
    one.stop(),
  );
  services.provide(replays, createReplayService(logBuckets, erasures));
}
