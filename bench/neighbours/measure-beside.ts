import type { Histogram } from 'hdr-histogram-js';
import { connectLog } from '../../shared/nats/connection/connection.ts';
import { readStreamState } from '../../shared/nats/streams/stream-progress.ts';
import type { StreamState } from '../../shared/nats/streams/stream-progress.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import type { LoadResult } from '../load/load-result.ts';
import { familyWaitMs, forgetPeakMemory, peakMemoryBytes, processFamilyCpuMs } from '../machine/process-use.ts';
import { sleep } from '../machine/wait-until.ts';
import type { Point } from '../result/result.ts';
import { waitArrived } from '../sink/sink.ts';
import type { Stage } from '../system/stage.ts';
import { startAttacker } from './attacker.ts';
import type { Attack, Tally } from './attacks/attack.ts';
import { quietGroup } from './neighbourhood.ts';
import type { Neighbourhood } from './neighbourhood.ts';
import { readBeside } from './read-beside.ts';

/** Measurements of the quiet account during a slice, and of the services during the same time. */
export type QuietRun = {
  readonly deliveredPerS: number;
  /** Time from the due time at the gateway to the arrival at the destination. */
  readonly latencies: Histogram;
  /** 90th percentile of the time that the control plane takes to list the account's sources. */
  readonly readP90Ms: number;
  readonly pipelineBytes: number;
  readonly gatewayBytes: number;
  /** CPU time of the services divided by the elapsed time: the average number of cores in use. */
  readonly cores: number;
  /** Average number of the services' threads that are runnable but wait for a core. */
  readonly waiting: number;
  /** Deliveries per second, window by window; seconds count from the beginning of the load. */
  readonly throughput: readonly Point[];
};

export type AttackedRun = QuietRun & {
  readonly tally: Tally;
  /** Duration of the attack, in seconds. */
  readonly attackS: number;
  /** Growth of EVENTS, minus one mebibyte, per byte of accepted bodies of both accounts. */
  readonly logRatio: number;
  /** The slice right after the attack, if the attack leaves a backlog. */
  readonly after?: QuietRun;
  /** Fraction of the retry log in use at the end of the attack. */
  readonly retryShare: number;
};

/** Load of the quiet account. It continues between the measured slices, so that no slice includes a start. */
export type QuietLoad = {
  measure(ms: number): Promise<QuietRun>;
  /** Ends the load and waits until all its events have arrived. */
  stop(): Promise<LoadResult>;
};

export const quietPerS = 200;
const connections = 32;
/**
 * Few enough that every visitor is known by the end of the warm-up: the first event of a visitor writes to the
 * database.
 */
const visitors = 1_000;
const windowMs = 500;
const mebibyte = 1024 ** 2;
/** Maximum duration of the load: longer than the measurement of any attack. */
const loadMsMax = 1_800_000;

export async function startQuietLoad(stage: Stage, place: Neighbourhood, warmUpMs: number): Promise<QuietLoad> {
  const { gateway, sink, control } = place;
  const ending = new AbortController();
  const begin = (await sink.group(quietGroup)).events;
  const order = {
    url: `${gateway.url}/api/v1/track`,
    bodies: [trackBody(control.sourceToken)],
    connections,
    ratePerS: quietPerS,
    visitors,
    warmUpMs,
    measureMs: loadMsMax,
  };
  let startedMs = 0;
  let measuring: () => void = () => undefined;
  const warm = new Promise<void>((resolve) => {
    measuring = resolve;
  });
  const loading = runLoad(stage, order, undefined, () => measuring(), ending.signal);
  await Promise.race([warm, loading]);
  // A later failure is thrown when `loading` is awaited.
  loading.catch(() => undefined);
  startedMs = performance.now();
  return {
    measure: (ms) => Promise.race([measureSlice(place, ms, startedMs), loading.then(endedEarly)]),
    async stop() {
      ending.abort();
      const load = await loading;
      await waitArrived(sink, quietGroup, begin + load.acceptedInAll);
      return load;
    },
  };
}

function endedEarly(): never {
  throw new Error('measuring beside an attack: the quiet load ended');
}

async function measureSlice(place: Neighbourhood, ms: number, loadStartedMs: number): Promise<QuietRun> {
  const { gateway, pipeline, control } = place;
  await Promise.all([gateway, pipeline].map(({ pid }) => forgetPeakMemory(pid)));
  const { result, p90Ms } = await readBeside(control, () => measureDeliveries(place, ms, loadStartedMs));
  return {
    ...result,
    readP90Ms: p90Ms,
    pipelineBytes: await peakMemoryBytes(pipeline.pid),
    gatewayBytes: await peakMemoryBytes(gateway.pid),
  };
}

type Deliveries = Omit<QuietRun, 'readP90Ms' | 'pipelineBytes' | 'gatewayBytes'>;

async function measureDeliveries(
  { sink, pids }: Neighbourhood,
  ms: number,
  loadStartedMs: number,
): Promise<Deliveries> {
  sink.forget();
  const first = await sink.tally();
  const used = await readUse(pids);
  let last = first;
  const eventsOf = ({ groups }: typeof first): number => groups[quietGroup]?.events ?? 0;
  const throughput: Point[] = [];
  for (let leftMs = ms; leftMs > windowMs / 2; leftMs = ms - (last.atMs - first.atMs)) {
    await sleep(Math.min(windowMs, leftMs));
    const now = await sink.tally();
    const rate = ((eventsOf(now) - eventsOf(last)) * 1000) / (now.atMs - last.atMs);
    throughput.push([(performance.now() - loadStartedMs) / 1000, rate]);
    last = now;
  }
  const latencies = await sink.latencies(quietGroup);
  const usedThen = await readUse(pids);
  const tookMs = usedThen.atMs - used.atMs;
  return {
    deliveredPerS: ((eventsOf(last) - eventsOf(first)) * 1000) / (last.atMs - first.atMs),
    latencies,
    cores: (usedThen.cpuMs - used.cpuMs) / tookMs,
    waiting: (usedThen.waitMs - used.waitMs) / tookMs,
    throughput,
  };
}

type Use = { readonly atMs: number; readonly cpuMs: number; readonly waitMs: number };

async function readUse(pids: readonly number[]): Promise<Use> {
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  const [cpu, waits] = await Promise.all([
    Promise.all(pids.map(processFamilyCpuMs)),
    Promise.all(pids.map(familyWaitMs)),
  ]);
  return { atMs: performance.now(), cpuMs: sum(cpu), waitMs: sum(waits) };
}

/** Time between the start of an attack and the measured slice. */
const attackLeadMs = 1_000;

/** Measures a slice of the quiet load during an attack, which begins before the slice and ends after it. */
export async function measureAttacked(
  stage: Stage,
  place: Neighbourhood,
  attack: Attack,
  quiet: QuietLoad,
  options: { readonly ms: number; readonly usualCores: number },
): Promise<AttackedRun> {
  const before = await eventsBytes(place.natsUrl);
  const begin = (await place.sink.group(quietGroup)).events;
  const attacker = await startAttacker(stage, attack, {
    attack: attack.name,
    target: place.target,
    facts: place.facts,
  });
  const startedMs = performance.now();
  await sleep(attackLeadMs);
  const run = await quiet.measure(options.ms);
  const attackS = (performance.now() - startedMs) / 1_000;
  const tally = await attacker.stop();
  const retryShare = await usedShare(place.natsUrl, streams.retry);
  const after = attack.leavesMuch === true ? { after: await quiet.measure(options.ms) } : {};
  await waitSettled(place.pids, options.usualCores);
  const out = (await eventsBytes(place.natsUrl)) - before - mebibyte;
  const arrived = (await place.sink.group(quietGroup)).events - begin;
  const sent = arrived * Buffer.byteLength(trackBody(place.control.sourceToken)) + tally.acceptedBytes;
  return { ...run, tally, attackS, logRatio: Math.max(0, out) / sent, retryShare, ...after };
}

/** Size of EVENTS. It only grows during a scenario, because the log is far from full and keeps history for days. */
const eventsBytes = (natsUrl: string): Promise<number> => inStream(natsUrl, streams.events, ({ bytes }) => bytes);

const usedShare = (natsUrl: string, stream: string): Promise<number> =>
  inStream(natsUrl, stream, ({ bytes, bytesMax = Infinity }) => bytes / bytesMax);

async function inStream(natsUrl: string, stream: string, read: (state: StreamState) => number): Promise<number> {
  const connection = await connectLog({ url: natsUrl, name: 'bench' });
  try {
    return read(await readStreamState(connection, stream));
  } finally {
    await connection.close();
  }
}

const lookMs = 500;
const settledCores = 0.25;
const settleMs = 20_000;

/** Waits until the services use hardly more than `usualCores`. A deadline limits the wait: retries may continue. */
export async function waitSettled(pids: readonly number[], usualCores = 0): Promise<void> {
  const deadline = performance.now() + settleMs;
  for (let last = await readUse(pids); performance.now() < deadline;) {
    await sleep(lookMs);
    const now = await readUse(pids);
    if ((now.cpuMs - last.cpuMs) / (now.atMs - last.atMs) < usualCores + settledCores) return;
    last = now;
  }
}
