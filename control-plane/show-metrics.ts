import type { PoolFigures } from '../shared/postgres/database-metrics.ts';
import { showPools } from '../shared/postgres/database-metrics.ts';
import { showUnreadable } from '../shared/collections/unreadable-entities.ts';
import type { UnreadableEntities } from '../shared/collections/unreadable-entities.ts';
import type { LogConnection } from '../shared/nats/connection/connection.ts';
import type { LogVariables } from '../shared/nats/connection/log-access.ts';
import { showLog } from '../shared/nats/monitor/log-metrics.ts';
import { watchLogServers } from '../shared/nats/monitor/watch-log-servers.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import { MetricsPage } from '../shared/runtime/metrics/metrics-page.ts';
import type { Scope } from '../shared/runtime/scope.ts';
import { showProcess } from '../shared/runtime/status/process-metrics.ts';
import { logJump, watchClock } from '../shared/runtime/watch-clock.ts';
import type { HttpCounts } from './api/http-counts.ts';
import type { AssignmentQuota } from './experiments/assignment/assignment-quota.ts';
import type { ExperimentLimits } from './experiments/assignment/experiment-limits.ts';
import type { ConnectionLimits } from './api/connection-limits.ts';
import type { RequestLimits } from './api/request-limits.ts';
import { controlPlaneMetrics } from './metrics.ts';
import type { RefusedLogins } from './keys/refused-logins.ts';
import type { ConfigPublisher } from './publishing/config-publisher.ts';
import type { DestinationTests } from './destinations/destination-tests.ts';
import type { ErasureForwarding } from './erasures/forward-erasures.ts';

export type MetricsSources = {
  readonly http: HttpCounts;
  readonly requestLimits: Readonly<Record<'account' | 'address', Pick<RequestLimits, 'waiting' | 'refused'>>>;
  readonly connections: Pick<ConnectionLimits, 'refused'>;
  readonly experimentLimits: Pick<ExperimentLimits, 'refused'>;
  readonly assignmentQuota: Pick<AssignmentQuota, 'unstored'>;
  readonly refusedLogins: Pick<RefusedLogins, 'counts'>;
  readonly publisher: Pick<ConfigPublisher, 'waiting' | 'failures'>;
  readonly destinationTests: Pick<DestinationTests, 'running' | 'counts'>;
  readonly erasureForwarding: Pick<ErasureForwarding, 'attempts' | 'figures'>;
  readonly pools: Readonly<Record<string, () => PoolFigures>>;
  leading(): boolean;
};

type PageVariables = Pick<LogVariables, 'NATS_MONITOR_URL'>;

export type PageParts = MetricsSources & {
  readonly connection: LogConnection;
  readonly unreadable: UnreadableEntities;
  readonly logger: Logger;
  configRevision(): number;
};

/** Opens the metrics page, and starts the measurements that only this page needs. */
export function openMetricsPage(env: PageVariables, parts: PageParts, scope: Scope): MetricsPage {
  const { connection, unreadable, logger, configRevision } = parts;
  const logServers = scope.use('log servers', watchLogServers(env.NATS_MONITOR_URL), (one) => one.stop());
  const clock = scope.use('clock', watchClock(logJump(logger)), (one) => one.stop());
  const page = new MetricsPage();
  showProcess(page, { component: 'control-plane', clock, configRevision });
  showLog(page, { connection, logServers });
  showUnreadable(page, unreadable);
  showMetrics(page, parts);
  return page;
}

const noErasures = { pending: 0, requested: 0, manual: 0, failed: 0, dueSoon: 0, overdue: 0 };

function showMetrics(
  page: MetricsPage,
  {
    http,
    connections,
    requestLimits,
    refusedLogins,
    publisher,
    destinationTests,
    erasureForwarding,
    pools,
    leading,
    ...experiments
  }: MetricsSources,
): void {
  page.show(controlPlaneMetrics.requests, (add) => {
    for (const { route, method, byCode } of http.routes) {
      for (const [code, count] of byCode) add(count, { route, method, code });
    }
  });
  page.showHistogram(controlPlaneMetrics.requestDuration, (add) => {
    for (const { route, method, times } of http.routes) add(times, { route, method });
  });
  page.show(controlPlaneMetrics.refusedConnections, (add) => add(connections.refused));
  page.show(controlPlaneMetrics.refusedRequests, (add) => {
    for (const [share, { refused }] of Object.entries(requestLimits)) add(refused, { share });
  });
  page.show(controlPlaneMetrics.waitingRequests, (add) => {
    for (const [share, { waiting }] of Object.entries(requestLimits)) add(waiting, { share });
  });
  page.show(controlPlaneMetrics.refusedExperiments, (add) => {
    for (const [cost, refused] of Object.entries(experiments.experimentLimits.refused)) add(refused, { cost });
  });
  page.show(controlPlaneMetrics.unstoredAssignments, (add) => add(experiments.assignmentQuota.unstored));
  page.show(controlPlaneMetrics.refusedLogins, (add) => {
    for (const [reason, count] of Object.entries(refusedLogins.counts)) add(count, { reason });
  });
  page.show(controlPlaneMetrics.isLeader, (add) => add(leading() ? 1 : 0));
  page.show(controlPlaneMetrics.outboxPending, (add) => add(publisher.waiting));
  page.show(controlPlaneMetrics.pushFailures, (add) => add(publisher.failures));
  page.show(controlPlaneMetrics.testsRunning, (add) => add(destinationTests.running));
  page.show(controlPlaneMetrics.tests, (add) => {
    for (const [outcome, count] of Object.entries(destinationTests.counts)) add(count, { outcome });
  });
  page.show(controlPlaneMetrics.erasureAttempts, (add) => {
    for (const [result, count] of Object.entries(erasureForwarding.attempts)) add(count, { result });
  });
  page.show(controlPlaneMetrics.openErasures, (add) => {
    const { dueSoon: _soon, overdue: _overdue, ...states } = erasureForwarding.figures ?? noErasures;
    for (const [state, count] of Object.entries(states)) add(count, { state });
  });
  page.show(controlPlaneMetrics.dueErasures, (add) => {
    const { dueSoon, overdue } = erasureForwarding.figures ?? noErasures;
    add(dueSoon, { when: 'soon' });
    add(overdue, { when: 'overdue' });
  });
  showPools(page, pools);
}
