import { hostname } from 'node:os';
import { secretsEnv } from '../shared/contracts/config/secrets.ts';
import { configTrustEnv } from '../shared/contracts/config/signed-config.ts';
import { egressEnv } from '../shared/egress/egress-rules.ts';
import { quotaEnv } from '../shared/limits/index.ts';
import { logEnv } from '../shared/nats/connection/log-access.ts';
import { topologyEnv } from '../shared/nats/streams/topology-settings.ts';
import { databaseEnv } from '../shared/postgres/database-access.ts';
import { defineEnv } from '../shared/runtime/env.ts';
import { serviceEnv } from '../shared/runtime/service-settings.ts';
import { membershipEnv } from './cluster/membership-settings.ts';
import { backpressureEnv } from './jobs/backlog/backpressure-settings.ts';
import { retentionEnv } from './jobs/retention/retention-settings.ts';
import { pipelineStatusEnv } from './status/status-settings.ts';
import { poolEnv } from './supervisor/pool-settings.ts';
import { hostEnv } from './threads/host-settings.ts';
import { dispatcherEnv } from './workers/dispatch/dispatcher-settings.ts';
import { fetchEnv } from './workers/dispatch/fetch-settings.ts';
import { recentEnv } from './workers/recent/recent-settings.ts';
import { resolverEnv } from './workers/resolve/resolver-settings.ts';

/** Every variable of the pipeline. */
export const { variables: pipelineEnv, read: readPipelineEnv } = defineEnv({
  ...logEnv,
  ...topologyEnv,
  ...serviceEnv,
  ...databaseEnv,
  ...secretsEnv,
  ...configTrustEnv,
  ...pipelineStatusEnv,
  ...poolEnv,
  ...hostEnv,
  ...membershipEnv,
  ...resolverEnv,
  ...dispatcherEnv,
  ...fetchEnv,
  ...egressEnv,
  ...recentEnv,
  ...retentionEnv,
  ...quotaEnv,
  ...backpressureEnv,
});

export type PipelineEnv = ReturnType<typeof readPipelineEnv>;

/**
 * The name of this process among the pipeline instances. Health windows are stored under this name, so without
 * INSTANCE_ID it consists of host name and port, which stay the same after a restart.
 */
export function instanceIdOf(env: PipelineEnv): string {
  const made = `${hostname()}-${env.PIPELINE_METRICS_PORT}`.replaceAll(/[^A-Za-z0-9_-]/g, '-');
  return env.INSTANCE_ID ?? made.slice(-64);
}
