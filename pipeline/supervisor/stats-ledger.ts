import type { ThreadTimings, TimedMetric } from '../workers/dispatch/sending/delivery-timings.ts';
import type { OutcomeCounter } from '../workers/recent/outcome-stats.ts';
import { createOutcomeCounts, outcomeCounters } from '../workers/recent/outcome-stats.ts';
import type { ActorFigures, CounterOf, GaugeOf, WorkerKind } from '../workers/registry.ts';
import { workerKinds, workerOf } from '../workers/registry.ts';
import type { Report, ThreadFigures } from '../threads/messages.ts';
import type { CacheFigures } from '../../shared/visitors/visitor-cache.ts';
import { addNumbers } from '../../shared/runtime/metrics/bucket-counts.ts';

type StatsReport = Extract<Report, { kind: 'stats' }>;
type Stats = Readonly<Record<string, number>>;

/** The last health report of a thread, and when it arrived on the monotonic clock, in ms. */
export type ThreadStats = ThreadFigures & { readonly reportedAtMs: number };

export type ActorName = Pick<ActorFigures, 'kind' | 'key'>;

/**
 * Reports of actors and threads. An actor counts from 0 at each start. Counts of earlier starts are kept, so that
 * totals never decrease.
 */
export type StatsLedger = {
  reported(thread: number, report: StatsReport): void;
  /** Call when an actor's run has ended. If there are no final stats, its last report counts. */
  ended(actor: ActorName, last: Stats | undefined): void;
  /** Removes an actor. If `into` is given, its counts are added to that actor's counts. */
  forget(kind: WorkerKind, key: string, into?: string): void;
  restarted(kind: WorkerKind): void;
  /** `wasSilent`: the supervisor ended the thread because it no longer reported. */
  threadDied(thread: number, wasSilent: boolean): void;
  /** A counter's total for each actor of a kind, by the actor's key. */
  totals<Kind extends WorkerKind>(kind: Kind, counter: CounterOf<Kind>): ReadonlyMap<string, number>;
  /** Totals of a counter over all actors of a kind, by account. */
  accountTotals(kind: WorkerKind, counter: string): ReadonlyMap<string, number>;
  /** Names under which actors of a kind have counted, see `NamedCounter`. */
  namesOf(kind: WorkerKind, counter: string): ReadonlySet<string>;
  /** Newest values of the running actors of a kind, added up by account. */
  accountValues(kind: WorkerKind, gauge: string): ReadonlyMap<string, number>;
  /** Newest value of a gauge of the running actors of a kind, by their keys. */
  values<Kind extends WorkerKind>(kind: Kind, gauge: GaugeOf<Kind>): ReadonlyMap<string, number>;
  /** Frames, and events in them, that each running actor has read since it started, by the name of its consumer. */
  framesRead(): Iterable<FramesRead>;
  /** Totals of the outcome recorders of all threads, including threads that died. */
  outcomes(counter: OutcomeCounter): number;
  /** Totals of the caches of visitors. */
  readonly cacheLookups: Pick<CacheFigures, 'hits' | 'confirmed' | 'misses'>;
  /** Histograms of delivery times over all threads, including threads that died, by type of destination. */
  timings(metric: TimedMetric): ReadonlyMap<string, Float64Array>;
  readonly threads: ReadonlyMap<number, ThreadStats>;
  readonly restarts: ReadonlyMap<WorkerKind, number>;
  readonly threadDeaths: number;
  /** Threads that were ended because they no longer reported. */
  readonly silentDeaths: number;
};

export type FramesRead = { readonly consumer: string; readonly frames: number; readonly events: number };

/** Actors of one kind, by their keys: the last reports of running actors, and the counts of ended ones. */
type KindStats = { readonly running: Map<string, Stats>; readonly past: Map<string, Record<string, number>> };

export function createStatsLedger(): StatsLedger {
  const byKind = new Map<WorkerKind, KindStats>(
    workerKinds.map((kind) => [kind, { running: new Map(), past: new Map() }]),
  );
  const of = (kind: WorkerKind): KindStats => byKind.get(kind) ?? { running: new Map(), past: new Map() };
  const threads = new Map<number, ThreadStats>();
  const past = { outcomes: createOutcomeCounts(), lookups: { hits: 0, confirmed: 0, misses: 0 } };
  const timings = createTimingsLedger();
  const restarts = new Map<WorkerKind, number>(workerKinds.map((kind) => [kind, 0]));
  let threadDeaths = 0;
  let silentDeaths = 0;
  const end = ({ kind, key }: ActorName, last: Stats | undefined): void => {
    const actors = of(kind);
    addTo(actors.past, key, last ?? actors.running.get(key) ?? {});
    actors.running.delete(key);
  };
  const sumOfThreads = (read: (figures: ThreadFigures) => number): number => {
    let sum = 0;
    for (const figures of threads.values()) sum += read(figures);
    return sum;
  };
  return {
    threads,
    restarts,
    get threadDeaths() {
      return threadDeaths;
    },
    get silentDeaths() {
      return silentDeaths;
    },
    reported(thread, { actors, thread: figures, timings: times }) {
      threads.set(thread, { ...figures, reportedAtMs: performance.now() });
      timings.reported(thread, times);
      for (const { kind, key, stats } of actors) of(kind).running.set(key, stats);
    },
    ended: end,
    forget(kind, key, into) {
      end({ kind, key }, undefined);
      const actors = of(kind);
      const sums = actors.past.get(key);
      actors.past.delete(key);
      if (into !== undefined && sums !== undefined) addTo(actors.past, into, sums);
    },
    framesRead: () =>
      workerKinds.flatMap((kind) => {
        const { framesRead: read, consumer } = workerOf(kind);
        if (read === undefined) return [];
        return [...of(kind).running].map(([key, stats]) => ({
          consumer: consumer.nameOf(key),
          frames: stats[read.frames] ?? 0,
          events: stats[read.events] ?? 0,
        }));
      }),
    outcomes: (counter) => past.outcomes[counter] + sumOfThreads(({ outcomes }) => outcomes[counter]),
    get cacheLookups() {
      return {
        hits: past.lookups.hits + sumOfThreads(({ visitorCache }) => visitorCache.hits),
        confirmed: past.lookups.confirmed + sumOfThreads(({ visitorCache }) => visitorCache.confirmed),
        misses: past.lookups.misses + sumOfThreads(({ visitorCache }) => visitorCache.misses),
      };
    },
    timings: (metric) => timings.totals(metric),
    restarted: (kind) => void restarts.set(kind, (restarts.get(kind) ?? 0) + 1),
    threadDied(thread, wasSilent) {
      const last = threads.get(thread);
      if (last !== undefined) {
        for (const counter of Object.keys(outcomeCounters) as OutcomeCounter[]) {
          past.outcomes[counter] += last.outcomes[counter];
        }
        past.lookups.hits += last.visitorCache.hits;
        past.lookups.confirmed += last.visitorCache.confirmed;
        past.lookups.misses += last.visitorCache.misses;
      }
      threads.delete(thread);
      timings.threadDied(thread);
      threadDeaths += 1;
      if (wasSilent) silentDeaths += 1;
    },
    totals(kind, counter) {
      const totals = new Map<string, number>();
      const { running, past: ended } = of(kind);
      for (const stats of [ended, running]) {
        for (const [key, values] of stats) {
          const value = values[counter];
          if (value !== undefined) totals.set(key, (totals.get(key) ?? 0) + value);
        }
      }
      return totals;
    },
    accountTotals(kind, counter) {
      const { running, past: ended } = of(kind);
      return sumByAccount([...ended.values(), ...running.values()], counter);
    },
    namesOf(kind, counter) {
      const { running, past: ended } = of(kind);
      return new Set(sumByAccount([...ended.values(), ...running.values()], counter).keys());
    },
    accountValues: (kind, gauge) => sumByAccount(of(kind).running.values(), gauge),
    values(kind, gauge) {
      const values = new Map<string, number>();
      for (const [key, stats] of of(kind).running) {
        const value = stats[gauge];
        if (value !== undefined) values.set(key, value);
      }
      return values;
    },
  };
}

/** Sums the numbers reported under `<stat>:<account id>`. */
function sumByAccount(reported: Iterable<Stats>, stat: string): Map<string, number> {
  const prefix = `${stat}:`;
  const sums = new Map<string, number>();
  for (const stats of reported) {
    for (const [name, value] of Object.entries<number>(stats)) {
      if (!name.startsWith(prefix)) continue;
      const accountId = name.slice(prefix.length);
      sums.set(accountId, (sums.get(accountId) ?? 0) + value);
    }
  }
  return sums;
}

function addTo(sums: Map<string, Record<string, number>>, key: string, stats: Stats): void {
  const own = sums.get(key) ?? {};
  for (const [name, value] of Object.entries(stats)) own[name] = (own[name] ?? 0) + value;
  sums.set(key, own);
}

/** Histograms of all threads, added up; counts of a thread that died are kept. */
type TimingsLedger = {
  reported(thread: number, timings: ThreadTimings): void;
  threadDied(thread: number): void;
  /** By type of destination. */
  totals(metric: TimedMetric): ReadonlyMap<string, Float64Array>;
};

function createTimingsLedger(): TimingsLedger {
  const running = new Map<number, ThreadTimings>();
  const past: Record<TimedMetric, Map<string, Float64Array>> = { dispatchDuration: new Map(), eventAge: new Map() };
  const addTo = (sums: Map<string, Float64Array>, timings: ThreadTimings, metric: TimedMetric): void => {
    for (const [type, times] of Object.entries(timings)) sums.set(type, addNumbers(sums.get(type), times[metric]));
  };
  return {
    reported: (thread, timings) => void running.set(thread, timings),
    threadDied(thread) {
      const last = running.get(thread) ?? {};
      running.delete(thread);
      addTo(past.dispatchDuration, last, 'dispatchDuration');
      addTo(past.eventAge, last, 'eventAge');
    },
    totals(metric) {
      const sums = new Map([...past[metric]].map(([type, numbers]) => [type, Float64Array.from(numbers)]));
      for (const timings of running.values()) addTo(sums, timings, metric);
      return sums;
    },
  };
}
