import type { WarmUp } from '../load/steady.ts';
import { warmUp } from '../load/steady.ts';
import { meanOf } from '../result/figure.ts';
import type { Round } from '../result/figure.ts';
import type { Series } from '../result/result.ts';
import type { GcWatch } from '../system/gc-watch.ts';
import { watchGc } from '../system/gc-watch.ts';
import type { Service } from '../system/services.ts';
import { cpuNsAnEvent } from '../machine/process-use.ts';
import { sleep } from '../machine/wait-until.ts';
import type { SinkGroup } from './sink-messages.ts';
import type { Sink } from './sink.ts';

export type ArrivalsOptions = WarmUp & {
  readonly sink: Sink;
  readonly group: string;
  readonly measureMs: number;
  /** Services whose heap use is measured at the same time. */
  readonly services?: readonly Service[];
  /** Number of events that will arrive in total; the measurement ends once all of them have arrived. */
  readonly eventsMax?: number;
  /** Reads the CPU time in ms that processes have used so far, by name. */
  readonly cpuMs?: () => Promise<Readonly<Record<string, number>>>;
  onWindow?(eventsPerS: number): void;
};

export type Arrived = {
  readonly rate: Round;
  /** Figures of the group, with latencies since the warm-up. */
  readonly overall: SinkGroup;
  readonly series: readonly Series[];
  readonly gc: GcWatch | undefined;
  /** CPU time per event during the measurement in ns, by the names of `cpuMs`. */
  readonly cpuNs: Readonly<Record<string, number>>;
};

const windowMs = 500;
/** Maximum fraction of `eventsMax` that the warm-up may use. */
const warmUpShareMax = 0.4;
const firstDeadlineMs = 60_000;

/** Measures arrivals at a sink: waits for the first arrival, warms up, and counts from then on. */
export async function measureArrivals(options: ArrivalsOptions): Promise<Arrived> {
  const { sink, group, warmUpMs, warmUpMaxMs, measureMs, eventsMax = Number.POSITIVE_INFINITY, onWindow } = options;
  const { cpuMs = () => Promise.resolve({}) } = options;
  const begin = (await sink.group(group)).events;
  await waitFirst(sink, group, begin);
  // Otherwise a backlog could be worked off within the warm-up, which would leave nothing to measure.
  const warmUpEventsMax = eventsMax * warmUpShareMax;
  await warmUp({ warmUpMs, warmUpMaxMs }, async () => (await sink.group(group)).events, {
    isOver: (events) => events - begin >= warmUpEventsMax,
  });
  sink.forget();
  const read = async (): Promise<{ readonly atMs: number; readonly events: number; readonly found?: SinkGroup }> => {
    const { atMs, groups } = await sink.tally();
    const found = groups[group];
    return found === undefined ? { atMs, events: 0 } : { atMs, events: found.events, found };
  };
  const watching = watchGc(options.services ?? []);
  const spentBefore = await cpuMs();
  const first = await read();
  let last = first;
  const readings: number[] = [];
  const points: [number, number][] = [];
  const p99: [number, number][] = [];
  while (last.atMs - first.atMs < measureMs && last.events - begin < eventsMax) {
    await sleep(Math.min(windowMs, measureMs - (last.atMs - first.atMs)));
    const next = await read();
    // The window of the last event ends early, so its rate means nothing.
    if (next.events - begin >= eventsMax && readings.length > 0) break;
    const rate = ((next.events - last.events) * 1000) / (next.atMs - last.atMs);
    const atS = (next.atMs - first.atMs) / 1000;
    readings.push(rate);
    points.push([atS, rate]);
    if (next.found !== undefined) p99.push([atS, next.found.latencyMs.p99]);
    onWindow?.(rate);
    last = next;
  }
  const cpuNs = cpuNsAnEvent(spentBefore, await cpuMs(), (await read()).events - first.events);
  const gc = await watching.end(last.events - first.events);
  const overall = await sink.group(group);
  return {
    rate: { value: meanOf(readings), readings },
    overall,
    gc,
    cpuNs,
    series: [
      { chart: 'throughput', name: 'delivered', unit: 'per_s', points },
      { chart: 'latency', name: 'p99', unit: 'ms', points: p99 },
    ],
  };
}

async function waitFirst(sink: Sink, group: string, begin: number): Promise<void> {
  const deadline = performance.now() + firstDeadlineMs;
  while ((await sink.group(group)).events === begin) {
    if (performance.now() > deadline) throw new Error(`waiting for events at the sink: none arrived at /${group}`);
    await sleep(10);
  }
}
