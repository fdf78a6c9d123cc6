import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { secretsEnv } from '../shared/contracts/config/secrets.ts';
import { configTrustEnv } from '../shared/contracts/config/signed-config.ts';
import { egressEnv, rangeProblems } from '../shared/egress/egress-rules.ts';
import { logEnv, logEnvRules } from '../shared/nats/connection/log-access.ts';
import { topologyEnv } from '../shared/nats/streams/topology-settings.ts';
import { databaseEnv, databaseRules } from '../shared/postgres/database-access.ts';
import { EnvError, readEnv, serviceEnv } from '../shared/runtime/env.ts';
import { backpressureEnv } from './jobs/backlog/backpressure-settings.ts';
import { membershipEnv } from './cluster/membership-settings.ts';
import { retentionEnv } from './jobs/retention/retention-settings.ts';
import { quotaEnv } from '../shared/limits/index.ts';
import { pipelineStatusEnv } from './status/status-settings.ts';
import { poolEnv } from './supervisor/pool-settings.ts';
import { hostEnv } from './threads/host-settings.ts';
import { dispatcherEnv } from './workers/dispatch/dispatcher-settings.ts';
import { fetchEnv } from './workers/dispatch/fetch-settings.ts';
import { recentEnv } from './workers/recent/recent-settings.ts';
import { resolverEnv } from './workers/resolve/resolver-settings.ts';

/** Every variable of the pipeline. */
export const pipelineEnv = {
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
};

const schema = Type.Object(pipelineEnv);

export type PipelineEnv = Static<typeof schema>;

/** The pipeline's environment. Throws EnvError with every problem. */
export function readPipelineEnv(source: Readonly<Record<string, string | undefined>> = process.env): PipelineEnv {
  const rules = [...logEnvRules, ...databaseRules];
  const env = readEnv(schema, source, (path) => readFileSync(path, 'utf8'), rules);
  const problems = [...rangeProblems(env)];
  if (problems.length > 0) throw new EnvError(problems);
  return env;
}

/**
 * The process's name among its peers. Health windows are kept under it, so without INSTANCE_ID it is one that a
 * restarted process finds again: its machine and its port.
 */
export function instanceIdOf(env: PipelineEnv): string {
  const made = `${hostname()}-${env.PIPELINE_METRICS_PORT}`.replaceAll(/[^A-Za-z0-9_-]/g, '-');
  return env.INSTANCE_ID ?? made.slice(-64);
}
