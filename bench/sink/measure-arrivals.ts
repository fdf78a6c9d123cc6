import { meanOf } from '../result/figure.ts';
import type { Round } from '../result/figure.ts';
import type { Series } from '../result/result.ts';
import { sleep } from '../machine/wait-until.ts';
import type { SinkGroup } from './sink-messages.ts';
import type { Sink } from './sink.ts';

export type ArrivalsOptions = {
  readonly sink: Sink;
  readonly group: string;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** Events there are in all: the measurement ends when they have arrived. */
  readonly eventsMax?: number;
  onWindow?(eventsPerS: number): void;
};

export type Arrived = {
  readonly rate: Round;
  /** Latencies since the warm-up. */
  readonly overall: SinkGroup;
  readonly series: readonly Series[];
};

const windowMs = 500;
const firstDeadlineMs = 60_000;

/** Counts what arrives at a sink, beginning after the warm-up that follows the first arrival. */
export async function measureArrivals(options: ArrivalsOptions): Promise<Arrived> {
  const { sink, group, warmUpMs, measureMs, eventsMax = Number.POSITIVE_INFINITY, onWindow } = options;
  const begin = (await sink.group(group)).events;
  await waitFirst(sink, group, begin);
  await sleep(warmUpMs);
  sink.forget();
  const read = async (): Promise<{ readonly atMs: number; readonly events: number; readonly found?: SinkGroup }> => {
    const { atMs, groups } = await sink.tally();
    const found = groups[group];
    return found === undefined ? { atMs, events: 0 } : { atMs, events: found.events, found };
  };
  const first = await read();
  let last = first;
  const readings: number[] = [];
  const points: [number, number][] = [];
  const p99: [number, number][] = [];
  while (last.atMs - first.atMs < measureMs && last.events - begin < eventsMax) {
    await sleep(Math.min(windowMs, measureMs - (last.atMs - first.atMs)));
    const next = await read();
    // The window in which the last event came is cut short by the end, and says nothing of the rate.
    if (next.events - begin >= eventsMax && readings.length > 0) break;
    const rate = ((next.events - last.events) * 1000) / (next.atMs - last.atMs);
    const atS = (next.atMs - first.atMs) / 1000;
    readings.push(rate);
    points.push([atS, rate]);
    if (next.found !== undefined) p99.push([atS, next.found.latencyMs.p99]);
    onWindow?.(rate);
    last = next;
  }
  const overall = await sink.group(group);
  return {
    rate: { value: meanOf(readings), readings },
    overall,
    series: [
      { chart: 'throughput', name: 'delivered', unit: 'per_s', points },
      { chart: 'latency', name: 'p99', unit: 'ms', points: p99 },
    ],
  };
}

async function waitFirst(sink: Sink, group: string, begin: number): Promise<void> {
  const deadline = performance.now() + firstDeadlineMs;
  while ((await sink.group(group)).events === begin) {
    if (performance.now() > deadline) throw new Error(`waiting for events at the sink: none came to /${group}`);
    await sleep(10);
  }
}
