import { sourceTypes } from '../../shared/collections/source-types.ts';
import type { Pace } from '../commit/crowd-pace.ts';
import type { BucketCounts } from '../../shared/runtime/metrics/bucket-counts.ts';
import type { MetricsPage } from '../../shared/runtime/metrics/metrics-page.ts';
import type { Backpressure } from '../ingest/backpressure.ts';
import { noEvents, tallyNames } from '../ingest/published-sources.ts';
import type { PublishedSources } from '../ingest/published-sources.ts';
import type { CompatCounts } from '../routes/compat/compat-intake.ts';
import type { Route } from '../http/route.ts';
import type { FrameOutcome } from '../commit/frame.ts';
import type { GroupCommit, GroupCommitSettings } from '../commit/group-commit.ts';
import type { LogGate } from '../commit/log-gate.ts';
import type { ConcurrencyLimit } from '../../shared/limits/index.ts';
import type { BodyBudget } from '../http/incoming-body.ts';
import type { RequestLimits } from '../http/request-limits.ts';
import type { Server } from '../http/server.ts';
import type { LoadedUws } from '../http/uws.ts';
import { gatewayMetrics } from './metrics.ts';
import type { RequestCounts } from './request-counts.ts';

/** What the metrics are read from at a scrape. The hot path counts in plain numbers. */
export type MetricsSources = {
  readonly routes: readonly Pick<Route, 'name'>[];
  readonly requests: RequestCounts;
  readonly compatCounts: CompatCounts;
  readonly sources: PublishedSources;
  readonly backpressure: Pick<Backpressure, 'accounts'>;
  readonly commit: GroupCommit;
  readonly commitSettings: GroupCommitSettings;
  readonly pace: Pace;
  readonly publishTimes: BucketCounts;
  readonly gate: LogGate;
  readonly limits: {
    readonly requests: Pick<RequestLimits, 'refused'>;
    readonly bodies: Pick<BodyBudget, 'total' | 'max' | 'refused'>;
    readonly unpacking: Pick<ConcurrencyLimit, 'refused'>;
  };
  readonly uws: LoadedUws;
  readonly server: Pick<Server, 'open' | 'connections' | 'refusedConnections'>;
};

/** Shown from the start, so that rates include the first request of a status. */
const usualCodes: readonly number[] = [200, 400, 401, 429, 500, 503];
const failureReasons: readonly Exclude<FrameOutcome, 'stored'>[] = [
  'disconnected',
  'timeout',
  'busy',
  'full',
  'too_large',
  'refused',
  'stalled',
];

/** Writes the gateway's page of metrics. */
export function showMetrics(page: MetricsPage, from: MetricsSources): void {
  showRequests(page, from);
  showEvents(page, from);
  showFrames(page, from);
  const { packageName, version } = from.uws;
  page.show(gatewayMetrics.engineInfo, (add) => add(1, { package: packageName, version }));
}

function showRequests(page: MetricsPage, { routes, requests, limits, server }: MetricsSources): void {
  const names = [...routes.map((route) => route.name), 'none'];
  page.show(gatewayMetrics.requests, (add) =>
    requests.forEach(usualCodes, (index, code, count) => add(count, { route: names[index] ?? 'none', code })),
  );
  page.showHistogram(gatewayMetrics.requestDuration, (add) =>
    names.forEach((route, index) => add(requests.times(index), { route })),
  );
  page.show(gatewayMetrics.requestsOpen, (add) => add(server.open));
  page.show(gatewayMetrics.connections, (add) => add(server.connections));
  page.show(gatewayMetrics.refusedConnections, (add) => add(server.refusedConnections));
  page.show(gatewayMetrics.refusedRequests, (add) => {
    for (const [share, { refused }] of Object.entries(limits)) add(refused, { share });
  });
  page.show(gatewayMetrics.bodyBytes, (add) => add(limits.bodies.total));
  page.show(gatewayMetrics.bodyBytesLimit, (add) => add(limits.bodies.max));
}

function showEvents(page: MetricsPage, { sources, backpressure, compatCounts }: MetricsSources): void {
  page.show(gatewayMetrics.events, (add) => {
    const { tallies } = sources;
    for (const type of new Set([...sourceTypes, ...tallies.keys()])) {
      const tally = tallies.get(type) ?? noEvents();
      for (const result of tallyNames) add(tally[result], { source_type: type, result });
    }
  });
  page.show(gatewayMetrics.mendedBodies, (add) => add(compatCounts.mended));
  page.show(gatewayMetrics.backpressureAccounts, (add) => add(backpressure.accounts));
  page.show(gatewayMetrics.sourceKeys, (add) => add(sources.keyCount));
}

function showFrames(page: MetricsPage, { commit, commitSettings, pace, publishTimes, gate }: MetricsSources): void {
  const { stats } = commit;
  page.show(gatewayMetrics.frames, (add) => {
    add(stats.closedByRound, { closed_by: 'round' });
    add(stats.closedByLinger, { closed_by: 'linger' });
    add(stats.closedBySize, { closed_by: 'size' });
  });
  page.show(gatewayMetrics.frameBytes, (add) => add(stats.frameBytes));
  page.show(gatewayMetrics.frameEvents, (add) => add(stats.events));
  page.show(gatewayMetrics.frameFailures, (add) => {
    for (const reason of failureReasons) add(gate.failures.get(reason) ?? 0, { reason });
    add(stats.expired, { reason: 'expired' });
  });
  page.showHistogram(gatewayMetrics.publishDuration, (add) => add(publishTimes.numbers));
  page.show(gatewayMetrics.roundDistance, (add) => add(pace.msAt(performance.now()) / 1_000));
  page.show(gatewayMetrics.framesInFlight, (add) => add(commit.inFlight));
  page.show(gatewayMetrics.framesInFlightLimit, (add) => add(commitSettings.framesInFlightMax));
  page.show(gatewayMetrics.queueEvents, (add) => add(commit.queuedEvents));
  page.show(gatewayMetrics.queueEventsLimit, (add) => add(commitSettings.queueEventsMax));
  page.show(gatewayMetrics.queueBytes, (add) => add(commit.queuedBytes));
  page.show(gatewayMetrics.queueBytesLimit, (add) => add(commitSettings.queueBytesMax));
}
