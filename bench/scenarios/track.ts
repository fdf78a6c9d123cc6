import { randomBytes } from 'node:crypto';
import { benchAccountId } from '../config/ids.ts';
import { publishAccounts } from '../config/account-document.ts';
import { trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import { runWatchedLoad } from '../load/run-watched-load.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import type { LoadResult } from '../load/load-result.ts';
import { loadFigures, loadSeries } from '../load/load-rounds.ts';
import { startBareUws, startFastifyPublish } from '../peers/peers.ts';
import { plainFigure, ratioFigure } from '../result/figure.ts';
import type { Bar, ResultRow, Series } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { timesOf } from '../system/scenario.ts';
import { peakMemoryBytes } from '../machine/process-use.ts';
import { memoryProbe, startSampler } from '../system/sampler.ts';
import { gcFigures } from '../system/gc-watch.ts';
import type { GcWatch } from '../system/gc-watch.ts';
import { startGateway } from '../system/services.ts';
import type { Service } from '../system/services.ts';
import type { Stage } from '../system/stage.ts';

const connections = 256;
/** Smaller fractions of unsent requests are not reported: the last tick of a measurement always leaves some. */
const unsentShareMax = 0.01;
const megabyte = 1_000_000;

type Running = { readonly trackUrl: string; readonly pid: number; readonly services: readonly Service[] };
type Subject = { readonly name: string; start(stage: Stage, natsUrl: string, token: string): Promise<Running> };
type Measured = {
  readonly load: LoadResult;
  readonly gc: GcWatch | undefined;
  readonly memoryBytes: number;
  readonly memory: readonly Series[];
  /** Only for the gateway: an open loop at half of the maximum rate. */
  readonly half: LoadResult | undefined;
};

const bare: Subject = {
  name: 'bare uWebSockets.js (stores nothing)',
  start: async (stage) => ({ ...(await startBareUws(stage)), services: [] }),
};
const fastify: Subject = {
  name: 'Fastify, one JetStream publish an event',
  start: async (stage, natsUrl) => ({ ...(await startFastifyPublish(stage, natsUrl)), services: [] }),
};
const gateway: Subject = {
  name: 'Sluice gateway',
  async start(stage, natsUrl, token) {
    await publishAccounts(natsUrl, [{ accountId: benchAccountId, token }]);
    const service = await startGateway(stage, natsUrl);
    return { trackUrl: `${service.url}/api/v1/track`, pid: service.pid, services: [service] };
  },
};
const subjects = [bare, fastify, gateway];

const bars: readonly Bar[] = [
  { id: 'of-bare', text: 'rate against bare uWebSockets.js', limit: 0.5, unit: 'ratio', ask: 'at-least' },
  {
    id: 'of-fastify',
    text: 'rate against Fastify with one publish an event',
    limit: 10,
    unit: 'ratio',
    ask: 'at-least',
  },
  { id: 'p50', text: 'median at half load', limit: 3, unit: 'ms', ask: 'at-most' },
  { id: 'p99', text: '99th percentile at half load', limit: 15, unit: 'ms', ask: 'at-most' },
  { id: 'memory', text: 'resident memory of the gateway', limit: 200 * megabyte, unit: 'bytes', ask: 'at-most' },
];

/**
 * Maximum events per second over `POST /track`, each stored and synced before its 200, compared with the HTTP engine
 * alone and with a common design; and the latency at half of that rate, from the due time.
 */
export const track: Scenario = {
  name: 'track',
  summary: `maximum durable tracks per second, ${connections} connections, closed loop; latency at half of that, open loop`,
  bars,
  async run(context) {
    const measured = new Map<Subject, Measured[]>(subjects.map((subject) => [subject, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const subject of subjects) {
        const label = `${subject.name}, round ${round}`;
        const found = await context.attempt(subject.name, () => measureOnce(context, subject, label));
        if (found !== undefined) measured.get(subject)?.push(found);
      }
    }
    const ratesOf = (subject: Subject): number[] => (measured.get(subject) ?? []).map(({ load }) => load.answersPerS);
    const rows = subjects.map((subject): ResultRow => {
      const rounds = measured.get(subject) ?? [];
      const loads = rounds.map(({ load }) => load);
      return {
        name: subject.name,
        figures: {
          ...loadFigures(loads),
          ...gcFigures(rounds.map(({ gc }) => gc)),
          'of bare': ratioFigure(ratesOf(subject), ratesOf(bare)),
          memory: plainFigure(
            'bytes',
            'less',
            rounds.map(({ memoryBytes }) => memoryBytes),
          ),
        },
        series: [...loadSeries(loads), ...(rounds.at(-1)?.memory ?? [])],
      };
    });
    const own = rows.at(-1)?.figures;
    const halves = (measured.get(gateway) ?? []).flatMap(({ half }) => (half === undefined ? [] : [half]));
    const half = halfRow(halves);
    return {
      settings: { connections, syncInterval: 'always' },
      rows: [...rows, half],
      measured: {
        'of-bare': own?.['of bare']?.value ?? Number.NaN,
        'of-fastify': ratioFigure(ratesOf(gateway), ratesOf(fastify)).value,
        p50: half.figures['p50']?.value ?? Number.NaN,
        p99: half.figures['p99']?.value ?? Number.NaN,
        memory: own?.['memory']?.value ?? Number.NaN,
      },
    };
  },
};

function halfRow(loads: readonly LoadResult[]): ResultRow {
  const unsent = loads.reduce((sum, load) => sum + load.unsent, 0);
  const due = unsent + loads.reduce((sum, load) => sum + load.answers, 0);
  return {
    name: 'Sluice gateway, half of that, open loop',
    figures: loadFigures(loads),
    series: loadSeries(loads),
    note: unsent < due * unsentShareMax ? '' : `${unsent} were due and could not be sent: the rate was too high`,
  };
}

function measureOnce(context: ScenarioContext, subject: Subject, label: string): Promise<Measured> {
  const { seconds, warmUpSeconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    const log = await stage.startLog();
    const token = `src_live_${randomBytes(16).toString('hex')}`;
    const { trackUrl, pid, services } = await subject.start(stage, log.url, token);
    progress.step(label, seconds + warmUpSeconds);
    const order = {
      url: trackUrl,
      bodies: [trackBody(token)],
      connections,
      ...timesOf(context),
    };
    const sampler = startSampler([memoryProbe('memory, last round', pid)]);
    const { load, gc } = await runWatchedLoad(stage, services, order, {
      onWindow: ({ perSecond }) => progress.note(`${Math.round(perSecond)}/s`),
    });
    const memory = await sampler.stop(load.warmedUp.tookMs / 1000);
    assertAllAccepted(subject.name, load);
    const memoryBytes = await peakMemoryBytes(pid);
    if (subject !== gateway) return { load, gc, memory, memoryBytes, half: undefined };
    progress.step(`${label}: half of that`, seconds + warmUpSeconds);
    const half = await runLoad(stage, { ...order, ratePerS: load.answersPerS / 2 });
    assertAllAccepted(`half of ${subject.name}`, half);
    return { load, gc, memory, memoryBytes, half };
  });
}
