import { readTopologySettings } from '../../shared/nats/streams/topology-settings.ts';
import type { Services } from '../api/services.ts';
import type { LogBuckets } from '../publishing/log-buckets.ts';
import { configRevision, work } from './endpoints.ts';
import type { WorkCache } from './endpoints.ts';
import { alerts, createAlertsReader } from './read-alerts.ts';
import { createFindingsReader, findings } from './read-findings.ts';
import type { FindingsOptions } from './read-findings.ts';

type SystemVariables = Parameters<typeof readTopologySettings>[0] & {
  readonly PROMETHEUS_URL?: Parameters<typeof createAlertsReader>[0];
  readonly NATS_MONITOR_URL?: FindingsOptions['monitorUrls'];
};

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
  services.provide(alerts, createAlertsReader(env.PROMETHEUS_URL));
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
