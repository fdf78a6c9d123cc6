import { outcomesIdOf } from '../host/messages.ts';
import type { ActorSpec, ActorStats, Report } from '../host/messages.ts';

type ThreadStats = Omit<Extract<Report, { kind: 'stats' }>, 'kind' | 'actors'>;

/**
 * What actors and threads have reported. An actor counts from nothing each time it starts; what it counted before, on
 * a thread that may be gone, is kept, so that totals never go back.
 */
export type StatsLedger = {
  reported(thread: number, report: Extract<Report, { kind: 'stats' }>): void;
  /** An actor's run is over; without last stats those reported last stand. */
  ended(actorId: string, last: ActorStats | undefined): void;
  restarted(kind: ActorSpec['kind']): void;
  threadDied(thread: number): void;
  /** Total of a counter, by actor id. */
  totals(counter: string, prefix: string): ReadonlyMap<string, number>;
  /** Newest value of a gauge of the actors that run, by actor id. */
  values(gauge: string, prefix: string): ReadonlyMap<string, number>;
  readonly threads: ReadonlyMap<number, ThreadStats>;
  readonly restarts: ReadonlyMap<ActorSpec['kind'], number>;
  readonly threadDeaths: number;
};

export function createStatsLedger(): StatsLedger {
  const running = new Map<string, ActorStats>();
  const past = new Map<string, Record<string, number>>();
  const threads = new Map<number, ThreadStats>();
  const restarts = new Map<ActorSpec['kind'], number>([
    ['resolver', 0],
    ['dispatcher', 0],
    ['recorder', 0],
    ['results', 0],
  ]);
  let threadDeaths = 0;
  const end = (actorId: string, last: ActorStats | undefined): void => {
    const final = last ?? running.get(actorId) ?? {};
    const sums = past.get(actorId) ?? {};
    for (const [name, value] of Object.entries(final)) sums[name] = (sums[name] ?? 0) + value;
    past.set(actorId, sums);
    running.delete(actorId);
  };
  return {
    threads,
    restarts,
    get threadDeaths() {
      return threadDeaths;
    },
    reported(thread, { actors, heapUsedBytes, utilization, isLogConnected }) {
      threads.set(thread, { heapUsedBytes, utilization, isLogConnected });
      for (const [actorId, stats] of Object.entries(actors)) running.set(actorId, stats);
    },
    ended: end,
    restarted: (kind) => void restarts.set(kind, (restarts.get(kind) ?? 0) + 1),
    threadDied(thread) {
      threads.delete(thread);
      end(outcomesIdOf(thread), undefined);
      threadDeaths += 1;
    },
    totals(counter, prefix) {
      const totals = new Map<string, number>();
      for (const stats of [past, running]) {
        for (const [actorId, values] of stats) {
          const value = values[counter];
          if (value === undefined || !actorId.startsWith(prefix)) continue;
          totals.set(actorId, (totals.get(actorId) ?? 0) + value);
        }
      }
      return totals;
    },
    values(gauge, prefix) {
      const values = new Map<string, number>();
      for (const [actorId, stats] of running) {
        const value = stats[gauge];
        if (value !== undefined && actorId.startsWith(prefix)) values.set(actorId, value);
      }
      return values;
    },
  };
}
