import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import type { StreamState } from '../shared/log/stream-progress.ts';
import { dispatcherCounters, dispatcherGauges } from './dispatch/dispatcher-stats.ts';
import { outcomeCounters, outcomeGauges } from './recent/outcome-stats.ts';
import { recorderCounters, recorderGauges } from './recent/recorder-stats.ts';
import { resolverCounters, resolverGauges } from './resolve/resolver-stats.ts';
import type { Retention } from './retention/retention.ts';
import type { StatsLedger } from './supervisor/stats-ledger.ts';
import type { Supervisor } from './supervisor/supervisor.ts';

export type MetricSources = {
  readonly stats: StatsLedger;
  readonly supervisor: Supervisor;
  readonly retention: Retention;
  readonly configRevision: () => number;
};

type Kind = { readonly prefix: string; readonly label: string };

const recorder: Kind = { prefix: 'recorder-', label: 'recorder' };
const outcomes: Kind = { prefix: 'outcomes-', label: 'thread' };
const resolver: Kind = { prefix: 'resolver-', label: 'partition' };
const dispatcher: Kind = { prefix: 'dispatcher-', label: 'destination_id' };

/** The registry of the process: what the threads reported last, read when it is scraped. */
export function createMetrics({ stats, supervisor, retention, configRevision }: MetricSources): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  addCounters(registry, stats, resolver, resolverCounters);
  addGauges(registry, stats, resolver, resolverGauges);
  addCounters(registry, stats, dispatcher, dispatcherCounters);
  addGauges(registry, stats, dispatcher, dispatcherGauges);
  addCounters(registry, stats, recorder, recorderCounters);
  addGauges(registry, stats, recorder, recorderGauges);
  addCounters(registry, stats, outcomes, outcomeCounters);
  addGauges(registry, stats, outcomes, outcomeGauges);
  addGauge(registry, 'sluice_config_revision', 'Configuration revision the process runs', (set) =>
    set(configRevision()),
  );
  addGauge(registry, 'sluice_pipeline_threads', 'Threads at work', (set) => set(supervisor.threadsReady));
  addGauge(
    registry,
    'sluice_thread_heap_bytes',
    'JavaScript heap used by a thread',
    (set) => {
      for (const [thread, { heapUsedBytes }] of stats.threads) set(heapUsedBytes, { thread });
    },
    ['thread'],
  );
  addGauge(
    registry,
    'sluice_thread_busy_ratio',
    'Share of the last second the event loop of a thread was busy',
    (set) => {
      for (const [thread, { utilization }] of stats.threads) set(utilization, { thread });
    },
    ['thread'],
  );
  addGauge(
    registry,
    'sluice_actors',
    'Actors in each state',
    (set) => {
      for (const [state, count] of Object.entries(supervisor.states)) set(count, { state });
    },
    ['state'],
  );
  addCounter(registry, 'sluice_thread_deaths_total', 'Threads that died', (add) => add(stats.threadDeaths));
  addCounter(
    registry,
    'sluice_actor_restarts_total',
    'Actors started again after a failure of their own',
    (add) => {
      for (const [kind, count] of stats.restarts) add(count, { kind });
    },
    ['kind'],
  );
  addLogMetrics(registry, retention);
  return registry;
}

function addLogMetrics(registry: Registry, retention: Retention): void {
  const labelled =
    (pick: (state: StreamState) => number | undefined) =>
    (set: Report): void => {
      for (const [stream, state] of retention.states) {
        const value = pick(state);
        if (value !== undefined) set(value, { stream });
      }
    };
  addGauge(
    registry,
    'sluice_log_bytes',
    'Bytes a stream holds',
    labelled(({ bytes }) => bytes),
    ['stream'],
  );
  addGauge(
    registry,
    'sluice_log_limit_bytes',
    'Limit of a stream',
    labelled(({ bytesMax }) => bytesMax),
    ['stream'],
  );
  addCounter(
    registry,
    'sluice_log_removed_messages_total',
    'Messages removed since everybody had finished with them',
    (add) => {
      for (const [stream, count] of retention.removed) add(count, { stream });
    },
    ['stream'],
  );
}

type Report = (value: number, labels?: Readonly<Record<string, string | number>>) => void;

function addCounter(
  registry: Registry,
  name: string,
  help: string,
  collect: (add: Report) => void,
  labelNames: readonly string[] = [],
): void {
  const counter: Counter = new Counter({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect: () => {
      counter.reset();
      collect((value, labels) => counter.inc({ ...labels }, value));
    },
  });
}

function addGauge(
  registry: Registry,
  name: string,
  help: string,
  collect: (set: Report) => void,
  labelNames: readonly string[] = [],
): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    collect: () => {
      gauge.reset();
      collect((value, labels) => gauge.set({ ...labels }, value));
    },
  });
}

function addCounters(
  registry: Registry,
  stats: StatsLedger,
  kind: Kind,
  counters: Readonly<Record<string, string>>,
): void {
  for (const [name, help] of Object.entries(counters)) {
    const collect = (add: Report): void => {
      for (const [actorId, value] of stats.totals(name, kind.prefix)) {
        add(value, { [kind.label]: actorId.slice(kind.prefix.length) });
      }
    };
    addCounter(registry, `sluice_${kind.prefix.replace('-', '_')}${name}_total`, help, collect, [kind.label]);
  }
}

function addGauges(registry: Registry, stats: StatsLedger, kind: Kind, gauges: Readonly<Record<string, string>>): void {
  for (const [name, help] of Object.entries(gauges)) {
    const collect = (set: Report): void => {
      for (const [actorId, value] of stats.values(name, kind.prefix)) {
        set(value, { [kind.label]: actorId.slice(kind.prefix.length) });
      }
    };
    addGauge(registry, `sluice_${kind.prefix.replace('-', '_')}${name}`, help, collect, [kind.label]);
  }
}
