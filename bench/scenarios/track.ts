import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../shared/embedded/free-port.ts';
import { defaultEmbeddedCacheDir, findNatsServer } from '../../shared/embedded/nats-binary.ts';
import { startNatsServer } from '../../shared/embedded/nats-server.ts';
import type { NatsServer } from '../../shared/embedded/nats-server.ts';
import { connectLog } from '../../shared/log/connection.ts';
import type { LoadResult } from '../load/closed-loop.ts';
import { runLoad } from '../load/load-process.ts';
import { trackBodies } from '../load/track-bodies.ts';
import { startPeer } from '../peers/peer-process.ts';
import { startGateway } from '../peers/gateway.ts';
import { processMemoryBytes } from '../report/process-memory.ts';
import type { ResultRow, Scenario, ScenarioContext } from '../scenario.ts';

const connections = 256;
const warmUpMs = 1_500;
/** The candidates run in turn, this many times over, so that a slow moment of the machine hits them alike. */
const rounds = 3;
const bodiesCount = 4_096;

type Candidate = { readonly name: string; start(server: NatsServer, token: string): Promise<Running> };
type Running = { readonly url: string; readonly pid: number; stop(): Promise<void> };

const candidates: readonly Candidate[] = [
  { name: 'bare uWebSockets.js (stores nothing)', start: startBareUws },
  { name: 'Fastify, one JetStream publish an event', start: startFastify },
  { name: 'Sluice gateway', start: startSluice },
];

/** Most events a second over `POST /track`, each stored and synced before its 200, beside what bounds it. */
export const track: Scenario = {
  name: 'track',
  summary: 'most durable tracks a second: bare uWebSockets.js, Fastify with one publish an event, the gateway',
  async run(context) {
    const binary = await findNatsServer({ cacheDir: defaultEmbeddedCacheDir(), onProgress: context.say });
    const token = `src_live_${randomBytes(16).toString('hex')}`;
    const results = new Map<string, { readonly load: LoadResult; readonly memoryBytes: number }[]>();
    for (let round = 1; round <= rounds; round += 1) {
      for (const candidate of candidates) {
        const label = `${candidate.name} (${round}/${rounds})`;
        const measured = await measureOnce(context, candidate, binary.path, token, label);
        results.set(candidate.name, [...(results.get(candidate.name) ?? []), measured]);
      }
    }
    return {
      unit: 'tracks/s',
      settings: { connections, rounds, seconds: context.seconds, natsServer: binary.version, syncInterval: 'always' },
      rows: candidates.map((candidate) => summarize(candidate.name, results)),
    };
  },
};

async function measureOnce(
  context: ScenarioContext,
  candidate: Candidate,
  binaryPath: string,
  token: string,
  label: string,
): Promise<{ readonly load: LoadResult; readonly memoryBytes: number }> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const server = await startNatsServer({ binaryPath, storeDir: folder });
  try {
    const running = await candidate.start(server, token);
    try {
      const order = {
        url: running.url,
        bodies: trackBodies(token, bodiesCount),
        connections,
        warmUpMs,
        measureMs: context.seconds * 1000,
      };
      const load = await runLoad(order, (perS) => context.progress(`${label}: ${Math.round(perS)} tracks/s`));
      assertAllAccepted(candidate.name, load);
      return { load, memoryBytes: await processMemoryBytes(running.pid) };
    } finally {
      context.progress(undefined);
      await running.stop();
    }
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function assertAllAccepted(name: string, load: LoadResult): void {
  const refused = load.answers - (load.byStatus['200'] ?? 0);
  if (refused > 0 || load.failures > 0) {
    throw new Error(`measuring ${name}: ${refused} answers were not 200 and ${load.failures} connections failed`);
  }
}

function summarize(
  name: string,
  results: ReadonlyMap<string, readonly { readonly load: LoadResult; readonly memoryBytes: number }[]>,
): ResultRow {
  const reference = medianRate(results.get(candidates[0]?.name ?? '') ?? []);
  const runs = (results.get(name) ?? []).toSorted((a, b) => a.load.answersPerS - b.load.answersPerS);
  const middle = runs[Math.floor(runs.length / 2)];
  if (middle === undefined) throw new Error(`summarizing ${name}: it was not measured`);
  return {
    name,
    perSecond: middle.load.answersPerS,
    ratio: middle.load.answersPerS / reference,
    latencyMs: middle.load.latencyMs,
    memoryBytes: middle.memoryBytes,
    samples: runs.map((run) => run.load.answersPerS),
  };
}

function medianRate(runs: readonly { readonly load: LoadResult }[]): number {
  const rates = runs.map((run) => run.load.answersPerS).toSorted((a, b) => a - b);
  return rates[Math.floor(rates.length / 2)] ?? Number.NaN;
}

async function startBareUws(): Promise<Running> {
  const port = await findFreePort();
  const peer = await startPeer(new URL('../peers/bare-uws.ts', import.meta.url), [String(port)]);
  return { url: trackUrl(port), ...peer };
}

async function startFastify(server: NatsServer): Promise<Running> {
  const connection = await connectLog({ url: server.url, name: 'bench' });
  await connection.jsm.streams.add({ name: 'PEER', subjects: ['peer.*'] });
  await connection.close();
  const port = await findFreePort();
  const peer = await startPeer(new URL('../peers/fastify-publish.ts', import.meta.url), [String(port), server.url]);
  return { url: trackUrl(port), ...peer };
}

async function startSluice(server: NatsServer, token: string): Promise<Running> {
  const gateway = await startGateway(server.url, token);
  return { url: trackUrl(gateway.port), ...gateway };
}

const trackUrl = (port: number): string => `http://127.0.0.1:${port}/api/v1/track`;
