import type { Piscina } from 'piscina';
import { watchLogServers } from '../shared/nats/monitor/watch-log-servers.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { serveStatus } from '../shared/runtime/status/serve-status.ts';
import type { ReadyCheck } from '../shared/runtime/status/serve-status.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { logJump, watchClock } from '../shared/runtime/watch-clock.ts';
import type { PipelineEnv } from './env.ts';
import { showMetrics } from './status/show-metrics.ts';
import { readPipelineStatusSettings } from './status/status-settings.ts';
import type { LogConnection } from '../shared/nats/connection/connection.ts';
import type { RunningActors } from './run-actors.ts';
import type { BacklogWatch } from './jobs/backlog/backlog-watch.ts';
import type { RunningJobs } from './start-jobs.ts';

export type StatusParts = {
  readonly connection: LogConnection;
  readonly pool: Piscina;
  readonly threads: number;
  readonly actors: RunningActors;
  readonly jobs: RunningJobs;
  readonly backlog: BacklogWatch;
  readonly logger: Logger;
};

/** Serves metrics and health. Returns the port. */
export async function servePipelineStatus(
  env: PipelineEnv,
  { connection, pool, threads, actors, jobs, backlog, logger }: StatusParts,
  scope: Scope,
): Promise<number> {
  const { host, port, destinationsMax } = readPipelineStatusSettings(env);
  const { accounts, placement, stats, supervisor, unreadable } = actors;
  const logServers = watchLogServers(env.NATS_MONITOR_URL);
  scope.use('log servers', logServers, (one) => one.stop());
  const clock = watchClock(logJump(logger));
  scope.use('clock', clock, (one) => one.stop());
  const page = showMetrics({
    ...jobs,
    backlog,
    stats,
    supervisor,
    pool,
    threadsExpected: threads,
    connection,
    logServers,
    clock,
    configRevision: () => accounts.applied,
    unreadable,
    destinationsMax,
    destinations: () => accounts.destinations(),
  });
  const statusServer = await serveStatus({
    port,
    host,
    portVariable: 'PIPELINE_METRICS_PORT',
    page,
    checks: [
      readyWhen('log', () => connection.problem),
      readyWhen('threads', () =>
        supervisor.threadsReady === threads ? undefined : `${supervisor.threadsReady} of ${threads} at work`,
      ),
      readyWhen('configuration', () => (accounts.ready ? undefined : 'not loaded yet')),
      readyWhen('sharing', () =>
        placement.waiting === 0 ? undefined : `${placement.waiting} actors wait for other instances to release them`,
      ),
      readyWhen('actors', () => {
        const { starting, waiting } = supervisor.states;
        return starting + waiting === 0 ? undefined : `${starting} starting, ${waiting} waiting`;
      }),
    ],
  });
  scope.use('status server', statusServer, (one) => one.close());
  return statusServer.port;
}

/** A readiness check that fails as long as `missing` returns a text, which becomes the detail of the failure. */
function readyWhen(name: string, missing: () => string | undefined): ReadyCheck {
  return {
    name,
    check: () => {
      const detail = missing();
      return detail === undefined ? { ok: true } : { ok: false, detail };
    },
  };
}
