import type { LogVariables } from '../../shared/nats/connection/log-access.ts';
import { readTopologySettings } from '../../shared/nats/streams/topology-settings.ts';
import type { Services } from '../api/services.ts';
import type { LogBuckets } from '../publishing/log-buckets.ts';
import { configRevision, work } from './endpoints.ts';
import type { WorkCache } from './endpoints.ts';
import { alerts, createAlertsReader, readPrometheusUrl } from './read-alerts.ts';
import { createFindingsReader, findings } from './read-findings.ts';
import type { FindingsOptions } from './read-findings.ts';

type SystemVariables = Parameters<typeof readTopologySettings>[0] &
  Parameters<typeof readPrometheusUrl>[0] &
  Pick<LogVariables, 'NATS_MONITOR_URL'>;

export type SystemParts = {
  readonly logBuckets: LogBuckets;
  readonly workCache: WorkCache;
  readonly pool: FindingsOptions['pool'];
  revision(): number;
  now(): Date;
};

export function provideSystem(
  env: SystemVariables,
  { logBuckets, workCache, pool, revision, now }: SystemParts,
  services: Services,
): void {
  const { connection } = logBuckets;
  services.provide(work, workCache);
  services.provide(configRevision, revision);
  services.provide(alerts, createAlertsReader(readPrometheusUrl(env)));
  services.provide(
    findings,
    createFindingsReader({
      connection,
      topology: readTopologySettings(env),
      monitorUrls: env.NATS_MONITOR_URL,
      pool,
      now,
    }),
  );
}
