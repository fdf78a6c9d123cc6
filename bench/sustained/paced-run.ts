import type { LoadOrder } from '../load/load-process.ts';
import { runLoad } from '../load/load-process.ts';
import type { LoadResult } from '../load/load-result.ts';
import type { WarmUp } from '../load/steady.ts';
import { meanOf } from '../result/figure.ts';
import type { Point, Series } from '../result/result.ts';
import type { SinkGroup } from '../sink/sink-messages.ts';
import type { Sink } from '../sink/sink.ts';
import { waitArrived } from '../sink/sink.ts';
import { assertNoneRefused } from '../system/services.ts';
import type { GcWatch } from '../system/gc-watch.ts';
import { watchGc } from '../system/gc-watch.ts';
import { memoryProbe, startSampler } from '../system/sampler.ts';
import type { Service } from '../system/services.ts';
import type { Stage } from '../system/stage.ts';
import { sleep } from '../machine/wait-until.ts';

export type PacedOptions = WarmUp & {
  readonly stage: Stage;
  readonly sink: Sink;
  readonly group: string;
  readonly order: Omit<LoadOrder, 'sequenceFrom' | 'warmUpMs' | 'warmUpMaxMs' | 'measureMs'>;
  readonly measureMs: number;
  /** Deliveries that one request causes: the number of its events times the number of destinations of each event. */
  readonly eventsPerRequest: number;
  /** Sluice's pipeline, if the path has one; the run fails if the pipeline has rejected an event. */
  readonly pipeline?: Service;
  /** Services whose heap use is measured at the same time. */
  readonly services?: readonly Service[];
  /** Does not wait for events in flight, because the path is stopped after this run. */
  readonly isLast?: boolean;
  /** Processes whose memory is charted, by the name of their line. */
  readonly pids?: Readonly<Record<string, number>>;
  onWindow?(deliveredPerS: number): void;
};

export type Paced = {
  readonly load: LoadResult;
  readonly deliveredPerS: number;
  /** Fraction of the events accepted until the last window, including the warm-up's, that were delivered by then. */
  readonly deliveredShare: number;
  /** Deliveries per second, window by window. */
  readonly readings: readonly number[];
  /** Latencies from the due time at the gateway to the arrival at the sink. */
  readonly arrived: SinkGroup;
  readonly series: readonly Series[];
  readonly gc: GcWatch | undefined;
};

/** Minimum estimate of the sustained rate, as a fraction of the accepted rate. */
const sustainedShare = 1 / 4;

/**
 * Estimates the sustained rate in deliveries per second from a run at the maximum accepted rate. If accepting events
 * starves delivery, hardly any event may have been delivered in that run.
 */
export function guessSustained(
  { deliveredPerS, load }: { readonly deliveredPerS: number; readonly load: Pick<LoadResult, 'answersPerS'> },
  eventsPerRequest: number,
): number {
  return Math.max(deliveredPerS, load.answersPerS * eventsPerRequest * sustainedShare);
}

const windowMs = 500;
/** Longer than the maximum delay of a window. */
const tailMs = 1_000;

/**
 * Sends load for a while and counts the events that arrive; then waits until everything accepted has arrived.
 * Large: one measurement from start to end.
 */
export async function runPaced(options: PacedOptions): Promise<Paced> {
  const { stage, sink, group, order, warmUpMs, warmUpMaxMs, measureMs, eventsPerRequest, onWindow } = options;
  const begin = (await sink.group(group)).events;
  let measuring: () => void = () => undefined;
  const warm = new Promise<void>((resolve) => {
    measuring = resolve;
  });
  // The load outlasts the measurement slightly, because the end of the load would change the last window.
  const times = { warmUpMs, warmUpMaxMs, measureMs: measureMs + tailMs };
  const loading = runLoad(stage, { ...order, ...times }, undefined, () => measuring());
  await Promise.race([warm, loading]);
  // A later failure is thrown when `loading` is awaited.
  loading.catch(() => undefined);
  sink.forget();
  const watching = watchGc(options.services ?? []);
  const first = await sink.tally();
  let last = { atMs: first.atMs, events: first.groups[group]?.events ?? 0 };
  const throughput: Point[] = [];
  const delivered: Point[] = [];
  const p50: Point[] = [];
  const p99: Point[] = [];
  const probes = Object.entries(options.pids ?? {}).map(([name, pid]) => memoryProbe(name, pid));
  const sampler = startSampler(probes);
  while (last.atMs - first.atMs < measureMs - windowMs / 2) {
    await sleep(windowMs);
    const { atMs, groups } = await sink.tally();
    const found = groups[group];
    const rate = (((found?.events ?? 0) - last.events) * 1000) / (atMs - last.atMs);
    const atS = (atMs - first.atMs) / 1000;
    throughput.push([atS, rate]);
    delivered.push([atS, (found?.events ?? 0) - begin]);
    if (found !== undefined) {
      p50.push([atS, found.latencyMs.p50]);
      p99.push([atS, found.latencyMs.p99]);
    }
    onWindow?.(rate);
    last = { atMs, events: found?.events ?? 0 };
  }
  const memory = await sampler.stop();
  const gc = await watching.end(last.events - (first.groups[group]?.events ?? 0));
  const arrived = await sink.group(group);
  const load = await loading;
  const readings = throughput.map(([, rate]) => rate);
  if (options.isLast !== true) await waitArrived(sink, group, begin + load.acceptedInAll * eventsPerRequest);
  if (options.pipeline !== undefined) await assertNoneRefused(options.pipeline);
  return {
    load,
    deliveredPerS: meanOf(readings),
    deliveredShare: deliveredShareOf(delivered, load, eventsPerRequest),
    readings,
    arrived,
    gc,
    series: [
      { chart: 'throughput', name: 'delivered', unit: 'per_s', points: throughput },
      { chart: 'latency', name: 'p50 to the sink', unit: 'ms', points: p50 },
      { chart: 'latency', name: 'p99 to the sink', unit: 'ms', points: p99 },
      ...memory,
      {
        chart: 'backlog',
        name: 'accepted and not delivered',
        unit: 'count',
        points: backlogOf(delivered, load, eventsPerRequest),
      },
    ],
  };
}

/**
 * The backlog at each count of deliveries: deliveries due for accepted events, minus those made. `delivered` counts
 * deliveries from the first request of the warm-up on. Times in `delivered` and in the windows of the load count from
 * the end of the warm-up.
 */
export function backlogOf(
  delivered: readonly Point[],
  load: Pick<LoadResult, 'windows' | 'acceptedInAll' | 'byStatus'>,
  eventsPerRequest: number,
): Point[] {
  const accepted = acceptedOver(load);
  return delivered.map(([atS, events]): Point => {
    // An event may arrive before its request is answered, so the difference may be below zero.
    return [atS, Math.max(0, valueAt(accepted, atS) * eventsPerRequest - events)];
  });
}

/** Deliveries as a fraction of those due for accepted events, at the last count; parameters as for `backlogOf`. */
export function deliveredShareOf(...[delivered, load, eventsPerRequest]: Parameters<typeof backlogOf>): number {
  const [atS, events] = delivered.at(-1) ?? [0, Number.NaN];
  return events / (valueAt(acceptedOver(load), atS) * eventsPerRequest);
}

/** Number of requests accepted so far, including the warm-up's, at the end of each window. */
function acceptedOver({ windows, acceptedInAll, byStatus }: Parameters<typeof backlogOf>[1]): Point[] {
  let accepted = acceptedInAll - (byStatus['200'] ?? 0);
  const points: Point[] = [[0, accepted]];
  let lastS = 0;
  for (const { atS, acceptedPerS } of windows) {
    accepted += acceptedPerS * (atS - lastS);
    lastS = atS;
    points.push([atS, accepted]);
  }
  return points;
}

/** Interpolates between two points; after the last point, the value of the last point applies. */
function valueAt(points: readonly Point[], atS: number): number {
  const next = points.findIndex(([pointS]) => pointS >= atS);
  const [endS, end] = points.at(next) ?? [0, 0];
  const [startS, start] = points[next - 1] ?? [endS, end];
  if (next <= 0 || endS === startS) return end;
  return start + ((end - start) * (atS - startS)) / (endS - startS);
}
