import type { Piscina } from 'piscina';
import { showPools } from '../../shared/postgres/database-metrics.ts';
import type { PoolFigures } from '../../shared/postgres/database-metrics.ts';
import type { MetricDefinition } from '../../shared/runtime/metrics/define-metric.ts';
import type { MetricsPage } from '../../shared/runtime/metrics/metrics-page.ts';
import { pipelineMetrics } from './metrics.ts';
import { actorStates } from '../supervisor/actor-record.ts';
import type { StatsLedger, ThreadStats } from '../supervisor/stats-ledger.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';

export type ThreadSources = {
  readonly stats: StatsLedger;
  readonly supervisor: Pick<Supervisor, 'placed' | 'threadsReady'>;
  readonly pool: Pick<Piscina, 'threads' | 'queueSize' | 'completed' | 'utilization'>;
  readonly threadsExpected: number;
};

/** Shows the state of actors, threads and the pool from the threads' own reports, so a hung thread delays nothing. */
export function showThreads(page: MetricsPage, { stats, supervisor, pool, threadsExpected }: ThreadSources): void {
  page.show(pipelineMetrics.actors, (add) => {
    const placed = supervisor.placed;
    for (const kind of stats.restarts.keys()) {
      for (const state of actorStates) {
        add(placed.filter((actor) => actor.kind === kind && actor.state === state).length, { kind, state });
      }
    }
  });
  page.show(pipelineMetrics.actorRestarts, (add) => {
    for (const [kind, restarts] of stats.restarts) add(restarts, { kind });
  });
  page.show(pipelineMetrics.threads, (add) => {
    add(supervisor.threadsReady, { state: 'ready' });
    add(threadsExpected, { state: 'expected' });
  });
  page.show(pipelineMetrics.threadDeaths, (add) => add(stats.threadDeaths));
  page.show(pipelineMetrics.silentDeaths, (add) => add(stats.silentDeaths));
  page.show(pipelineMetrics.poolThreads, (add) => add(pool.threads.length));
  page.show(pipelineMetrics.poolQueue, (add) => add(pool.queueSize));
  page.show(pipelineMetrics.poolCompleted, (add) => add(pool.completed));
  page.show(pipelineMetrics.poolUtilization, (add) => add(pool.utilization));
  showEachThread(page, stats);
  showVisitors(page, stats);
}

function showEachThread(page: MetricsPage, stats: StatsLedger): void {
  const each = (definition: MetricDefinition<'thread'>, read: (figures: ThreadStats) => number): void => {
    page.show(definition, (add) => {
      for (const [thread, figures] of stats.threads) add(read(figures), { thread });
    });
  };
  each(pipelineMetrics.threadSilence, ({ reportedAtMs }) => (performance.now() - reportedAtMs) / 1_000);
  each(pipelineMetrics.threadHeap, ({ heapUsedBytes }) => heapUsedBytes);
  each(pipelineMetrics.threadBusy, ({ utilization }) => utilization);
  each(pipelineMetrics.threadLogConnected, ({ isLogConnected }) => (isLogConnected ? 1 : 0));
  each(pipelineMetrics.threadDelayP99, ({ delayP99Ms }) => delayP99Ms / 1_000);
  each(pipelineMetrics.threadDelayMax, ({ delayMaxMs }) => delayMaxMs / 1_000);
}

/** The caches of visitors and the connections to PostgreSQL of all threads together. */
function showVisitors(page: MetricsPage, stats: StatsLedger): void {
  const sum = (read: (figures: ThreadStats) => number): number =>
    [...stats.threads.values()].reduce((total, figures) => total + read(figures), 0);
  page.show(pipelineMetrics.cacheLookups, (add) => {
    const { hits, confirmed, misses } = stats.cacheLookups;
    add(hits, { result: 'hit' });
    add(confirmed, { result: 'confirmed' });
    add(misses, { result: 'miss' });
  });
  page.show(pipelineMetrics.cacheVisitors, (add) => add(sum(({ visitorCache }) => visitorCache.visitors)));
  page.show(pipelineMetrics.cacheBytes, (add) => add(sum(({ visitorCache }) => visitorCache.bytes)));
  page.show(pipelineMetrics.cacheBytesLimit, (add) => add(sum(({ visitorCache }) => visitorCache.bytesMax)));
  const threads = (): PoolFigures => ({
    used: sum(({ database }) => database.used),
    idle: sum(({ database }) => database.idle),
    waiting: sum(({ database }) => database.waiting),
    connectionsMax: sum(({ database }) => database.connectionsMax),
  });
  showPools(page, { threads });
}
