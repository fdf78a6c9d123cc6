import type { PoolFigures } from '../shared/postgres/database-metrics.ts';
import { showPools } from '../shared/postgres/database-metrics.ts';
import type { MetricsPage } from '../shared/runtime/metrics/metrics-page.ts';
import type { HttpCounts } from './api/http-counts.ts';
import type { AssignmentShares } from './experiments/assignment/assignment-shares.ts';
import type { ExperimentLimits } from './experiments/assignment/experiment-limits.ts';
import type { ConnectionLimits } from './api/connection-limits.ts';
import type { RequestShares } from './api/request-shares.ts';
import { controlPlaneMetrics } from './metrics.ts';
import type { RefusedLogins } from './keys/refused-logins.ts';
import type { ConfigPublisher } from './publishing/config-publisher.ts';
import type { DestinationTests } from './destinations/destination-tests.ts';

export type MetricsSources = {
  readonly http: HttpCounts;
  readonly shares: Readonly<Record<'account' | 'address', Pick<RequestShares, 'waiting' | 'refused'>>>;
  readonly connections: Pick<ConnectionLimits, 'refused'>;
  readonly experimentLimits: Pick<ExperimentLimits, 'refused'>;
  readonly assignmentShares: Pick<AssignmentShares, 'unstored'>;
  readonly refusedLogins: Pick<RefusedLogins, 'counts'>;
  readonly publisher: Pick<ConfigPublisher, 'waiting' | 'failures'>;
  readonly destinationTests: Pick<DestinationTests, 'running' | 'counts'>;
  readonly pools: Readonly<Record<string, () => PoolFigures>>;
  leading(): boolean;
};

/** Shows everything the control plane tells of itself. */
export function showMetrics(
  page: MetricsPage,
  {
    http,
    connections,
    shares,
    refusedLogins,
    publisher,
    destinationTests,
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
    for (const [share, { refused }] of Object.entries(shares)) add(refused, { share });
  });
  page.show(controlPlaneMetrics.waitingRequests, (add) => {
    for (const [share, { waiting }] of Object.entries(shares)) add(waiting, { share });
  });
  page.show(controlPlaneMetrics.refusedExperiments, (add) => {
    for (const [cost, refused] of Object.entries(experiments.experimentLimits.refused)) add(refused, { cost });
  });
  page.show(controlPlaneMetrics.unstoredAssignments, (add) => add(experiments.assignmentShares.unstored));
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
  showPools(page, pools);
}
