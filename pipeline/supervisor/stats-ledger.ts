import type { TimedMetric } from '../workers/dispatch/sending/delivery-timings.ts';
import { createTimingsLedger } from './timings-ledger.ts';
import { cacheIdOf, outcomesIdOf } from '../threads/messages.ts';
import type { ActorSpec, ActorStats, Report, ThreadFigures } from '../threads/messages.ts';

type StatsReport = Extract<Report, { kind: 'stats' }>;

/** How a thread did when it last said so, on the monotonic clock. */
export type ThreadStats = ThreadFigures & { readonly reportedAtMs: number };

/**
 * What actors and threads have reported. An actor counts from nothing each time it starts; what it counted before, on
 * a thread that may be gone, is kept, so that totals never go back.
 */
export type StatsLedger = {
  reported(thread: number, report: StatsReport): void;
  /** An actor's run is over; without last stats those reported last stand. */
  ended(actorId: string, last: ActorStats | undefined): void;
  /** Nobody wants to know of an actor any more; what it counted is added to another one's where that is named. */
  forget(actorId: string, into?: string): void;
  restarted(kind: ActorSpec['kind']): void;
  threadDied(thread: number): void;
  /** Total of a counter, by actor id. */
  totals(counter: string, prefix: string): ReadonlyMap<string, number>;
  /** Newest value of a gauge of the actors that run, by actor id. */
  values(gauge: string, prefix: string): ReadonlyMap<string, number>;
  /** Frames of the log and events in them each actor has read since it started, by actor id. */
  readSoFar(): Iterable<{ readonly actorId: string; readonly frames: number; readonly events: number }>;
  /** Times of deliveries over all threads, those that died included, by type of destination. */
  timings(metric: TimedMetric): ReadonlyMap<string, Float64Array>;
  readonly threads: ReadonlyMap<number, ThreadStats>;
  readonly restarts: ReadonlyMap<ActorSpec['kind'], number>;
  readonly threadDeaths: number;
};

export function createStatsLedger(): StatsLedger {
  const running = new Map<string, ActorStats>();
  const past = new Map<string, Record<string, number>>();
  const threads = new Map<number, ThreadStats>();
  const timings = createTimingsLedger();
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
    reported(thread, { actors, thread: figures, timings: times }) {
      threads.set(thread, { ...figures, reportedAtMs: performance.now() });
      timings.reported(thread, times);
      for (const [actorId, stats] of Object.entries(actors)) running.set(actorId, stats);
    },
    ended: end,
    forget(actorId, into) {
      end(actorId, undefined);
      const sums = past.get(actorId);
      past.delete(actorId);
      if (into === undefined || sums === undefined) return;
      const others = past.get(into) ?? {};
      for (const [name, value] of Object.entries(sums)) others[name] = (others[name] ?? 0) + value;
      past.set(into, others);
    },
    readSoFar: () =>
      [...running].flatMap(([actorId, { frames, frame_events: frameEvents, events }]) => {
        const read = frameEvents ?? events;
        return frames === undefined || read === undefined ? [] : [{ actorId, frames, events: read }];
      }),
    timings: (metric) => timings.totals(metric),
    restarted: (kind) => void restarts.set(kind, (restarts.get(kind) ?? 0) + 1),
    threadDied(thread) {
      threads.delete(thread);
      end(outcomesIdOf(thread), undefined);
      end(cacheIdOf(thread), undefined);
      timings.threadDied(thread);
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
