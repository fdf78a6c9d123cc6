import { MetricsPage } from '../shared/runtime/metrics/metrics-page.ts';
import { showProcess } from '../shared/runtime/status/process-metrics.ts';
import { showUnreadable } from '../shared/collections/unreadable-entities.ts';
import { showLog } from '../shared/nats/monitor/log-metrics.ts';
import { watchLogServers } from '../shared/nats/monitor/watch-log-servers.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { serveStatus } from '../shared/runtime/status/serve-status.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { logJump, watchClock } from '../shared/runtime/watch-clock.ts';
import type { GatewayEnv } from './env.ts';
import { readinessChecks } from './status/readiness.ts';
import { showMetrics } from './status/show-metrics.ts';
import { readGatewayStatusSettings } from './status/status-settings.ts';
import type { OpenedLog } from './open-log.ts';
import type { OpenedCommit } from './open-commit.ts';
import type { FollowedConfiguration } from './follow-configuration.ts';
import type { ServedIngest } from './serve-ingest.ts';

export type StatusParts = {
  readonly log: OpenedLog;
  readonly opened: OpenedCommit;
  readonly followed: FollowedConfiguration;
  readonly served: ServedIngest;
  readonly logger: Logger;
};

/** Serves metrics and health. The server's name in `scope` is `status server`. */
export async function serveGatewayStatus(
  env: GatewayEnv,
  { log, opened, followed, served, logger }: StatusParts,
  scope: Scope,
): Promise<void> {
  const { connection } = log;
  const { sources, backpressure, feed, unreadable } = followed;
  const { gate } = opened;
  const { canary } = served;
  const logServers = watchLogServers(env.NATS_MONITOR_URL);
  scope.use('log servers', logServers, (one) => one.stop());
  const clock = watchClock(logJump(logger));
  scope.use('clock', clock, (one) => one.stop());
  const page = new MetricsPage();
  const configRevision = (): number => feed.revision;
  showProcess(page, { component: 'gateway', clock, configRevision });
  showLog(page, { connection, logServers });
  showUnreadable(page, unreadable);
  showMetrics(page, { ...served, ...opened, commitSettings: opened.committing, sources, backpressure });
  const statusServer = await serveStatus({
    ...readGatewayStatusSettings(env),
    portVariable: 'GATEWAY_METRICS_PORT',
    page,
    checks: readinessChecks({ connection, canary, gate, feed, logServers, scope }),
  });
  scope.use('status server', statusServer, (one) => one.close());
}
