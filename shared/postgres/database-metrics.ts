import { gauge } from '../runtime/metrics/define-metric.ts';
import type { MetricsPage } from '../runtime/metrics/metrics-page.ts';

/** The state of a pool of connections to PostgreSQL at one moment, in numbers of connections. */
export type PoolFigures = {
  readonly used: number;
  readonly idle: number;
  /** Number of requests that wait for a connection. */
  readonly waiting: number;
  readonly connectionsMax: number;
};

export const databaseMetrics = {
  connections: gauge('sluice_database_connections', 'Connections to PostgreSQL, by pool and state: used, idle', [
    'pool',
    'state',
  ]),
  connectionsLimit: gauge('sluice_database_connections_limit', 'Connections a pool may open', ['pool']),
  waiting: gauge('sluice_database_waiting_queries', 'Work that waits for a connection of a pool', ['pool']),
};

export function showPools(page: MetricsPage, pools: Readonly<Record<string, () => PoolFigures>>): void {
  const each = (visit: (pool: string, figures: PoolFigures) => void): void => {
    for (const [pool, figures] of Object.entries(pools)) visit(pool, figures());
  };
  page.show(databaseMetrics.connections, (add) =>
    each((pool, { used, idle }) => {
      add(used, { pool, state: 'used' });
      add(idle, { pool, state: 'idle' });
    }),
  );
  page.show(databaseMetrics.connectionsLimit, (add) =>
    each((pool, { connectionsMax }) => add(connectionsMax, { pool })),
  );
  page.show(databaseMetrics.waiting, (add) => each((pool, { waiting }) => add(waiting, { pool })));
}

export function poolFigures(pool: {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  readonly options: { readonly max: number };
}): PoolFigures {
  const { totalCount, idleCount, waitingCount, options } = pool;
  return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount, connectionsMax: options.max };
}
