import { connectLog } from '../../shared/nats/connection/connection.ts';
import { client } from '../../shared/nats/connection/client.ts';
import { streams } from '../../shared/nats/streams/topology.ts';
import { trackBody } from '../load/bodies.ts';
import type { LoadResult } from '../load/load-result.ts';
import { createLatencies, percentilesOf, recordMs } from '../load/load-recorder.ts';
import { forgetPeakMemory, peakMemoryBytes, processFamilyCpuMs } from '../machine/process-use.ts';
import { sleep } from '../machine/wait-until.ts';
import type { Series } from '../result/result.ts';
import { waitArrived } from '../sink/sink.ts';
import { runPaced } from '../sustained/paced-run.ts';
import type { ControlAccess } from '../system/control-client.ts';
import type { Stage } from '../system/stage.ts';
import { startAttacker } from './attacker.ts';
import type { Attack, Tally } from './attacks/attack.ts';
import { quietGroup } from './neighbourhood.ts';
import type { Neighbourhood } from './neighbourhood.ts';

export type QuietTimes = { readonly warmUpMs: number; readonly measureMs: number };

/** What the quiet account sees, and what the services take meanwhile. */
export type QuietRun = {
  readonly deliveredPerS: number;
  /** From due at the gateway to arrived at the destination, 99 of 100. */
  readonly p99Ms: number;
  /** A page of its sources read at the control plane, 9 of 10. */
  readonly readP90Ms: number;
  readonly load: LoadResult;
  readonly series: readonly Series[];
  readonly pipelineBytes: number;
  readonly gatewayBytes: number;
};

export type AttackedRun = QuietRun & {
  readonly tally: Tally;
  /** Bytes that EVENTS grew by for each byte of bodies that was taken, a mebibyte left aside. */
  readonly logRatio: number;
};

export const quietPerS = 200;
const connections = 32;
const readEveryMs = 50;
const mebibyte = 1024 ** 2;

/** Runs the quiet account's load by itself, until all of it has arrived. */
export async function measureQuiet(stage: Stage, place: Neighbourhood, times: QuietTimes): Promise<QuietRun> {
  const begin = (await place.sink.group(quietGroup)).events;
  const run = await runQuiet(stage, place, times);
  await waitArrived(place.sink, quietGroup, begin + run.load.acceptedInAll);
  return run;
}

async function runQuiet(stage: Stage, place: Neighbourhood, times: QuietTimes): Promise<QuietRun> {
  const { gateway, pipeline, sink, control } = place;
  await Promise.all([gateway, pipeline].map(({ pid }) => forgetPeakMemory(pid)));
  const reading = startReading(control);
  const paced = await runPaced({
    stage,
    sink,
    group: quietGroup,
    order: {
      url: `${gateway.url}/api/v1/track`,
      bodies: [trackBody(control.sourceToken)],
      connections,
      ratePerS: quietPerS,
    },
    ...times,
    eventsPerRequest: 1,
    // What is late is waited for once the attack is over.
    isLast: true,
    pids: { pipeline: pipeline.pid, gateway: gateway.pid },
  });
  return {
    deliveredPerS: paced.deliveredPerS,
    p99Ms: paced.arrived.overallMs.p99,
    readP90Ms: await reading.stop(),
    load: paced.load,
    series: paced.series,
    pipelineBytes: await peakMemoryBytes(pipeline.pid),
    gatewayBytes: await peakMemoryBytes(gateway.pid),
  };
}

/** Runs the same load beside an attack, which begins before it and ends behind it. */
export async function measureAttacked(
  stage: Stage,
  place: Neighbourhood,
  attack: Attack,
  times: QuietTimes,
): Promise<AttackedRun> {
  const before = await eventsBytes(place.natsUrl);
  const begin = (await place.sink.group(quietGroup)).events;
  const attacker = await startAttacker(stage, { attack: attack.name, target: place.target, facts: place.facts });
  const run = await runQuiet(stage, place, times);
  const tally = await attacker.stop();
  await waitArrived(place.sink, quietGroup, begin + run.load.acceptedInAll);
  await waitSettled(place.pids);
  const out = (await eventsBytes(place.natsUrl)) - before - mebibyte;
  const sent = run.load.acceptedInAll * Buffer.byteLength(trackBody(place.control.sourceToken)) + tally.acceptedBytes;
  return { ...run, tally, logRatio: Math.max(0, out) / sent };
}

/** Reads the account's configuration again and again; says how long 9 of 10 readings took, failures as the deadline. */
function startReading(control: ControlAccess): { stop(): Promise<number> } {
  const latencies = createLatencies();
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const startedMs = performance.now();
      const isRead = await control.call('GET', 'sources').then(
        () => true,
        () => false,
      );
      recordMs(latencies, isRead ? performance.now() - startedMs : failedReadMs);
      await sleep(readEveryMs);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
      return percentilesOf(latencies).p90;
    },
  };
}

const failedReadMs = 60_000;

/** Nothing of the log is removed while a scenario runs: it is far from full, and history is kept for days. */
async function eventsBytes(natsUrl: string): Promise<number> {
  const connection = await connectLog({ url: natsUrl, name: 'bench' });
  try {
    return (await connection[client].jsm.streams.info(streams.events)).state.bytes;
  } finally {
    await connection.close();
  }
}

const lookMs = 500;
const settledShare = 0.15;
const settleMs = 20_000;

/** Waits until the services are nearly idle, but not for ever: what is retried goes on being retried. */
export async function waitSettled(pids: readonly number[]): Promise<void> {
  const used = async (): Promise<number> =>
    (await Promise.all(pids.map(processFamilyCpuMs))).reduce((sum, ms) => sum + ms, 0);
  const deadline = performance.now() + settleMs;
  for (let last = await used(); performance.now() < deadline;) {
    await sleep(lookMs);
    const now = await used();
    if (now - last < lookMs * settledShare) return;
    last = now;
  }
}
