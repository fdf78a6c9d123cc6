import { randomBytes } from 'node:crypto';
import { benchAccountId } from '../config/ids.ts';
import { publishAccounts } from '../config/account-document.ts';
import { trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import type { LoadResult } from '../load/load-result.ts';
import { loadFigures, loadSeries } from '../load/load-rounds.ts';
import { startBareUws, startFastifyPublish } from '../peers/peers.ts';
import { plainFigure, ratioFigure } from '../result/figure.ts';
import type { Bar, ResultRow, Series } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { peakMemoryBytes } from '../machine/process-use.ts';
import { memoryProbe, startSampler } from '../system/sampler.ts';
import { startGateway } from '../system/services.ts';
import type { Stage } from '../system/stage.ts';

const connections = 256;
const megabyte = 1_000_000;

type Running = { readonly trackUrl: string; readonly pid: number };
type Subject = { readonly name: string; start(stage: Stage, natsUrl: string, token: string): Promise<Running> };
type Measured = { readonly load: LoadResult; readonly memoryBytes: number; readonly memory: readonly Series[] };

const bare: Subject = { name: 'bare uWebSockets.js (stores nothing)', start: (stage) => startBareUws(stage) };
const fastify: Subject = { name: 'Fastify, one JetStream publish an event', start: startFastifyPublish };
const gateway: Subject = {
  name: 'Sluice gateway',
  async start(stage, natsUrl, token) {
    await publishAccounts(natsUrl, [{ accountId: benchAccountId, token }]);
    const { url, pid } = await startGateway(stage, natsUrl);
    return { trackUrl: `${url}/api/v1/track`, pid };
  },
};
const subjects = [bare, fastify, gateway];

const bars: readonly Bar[] = [
  { id: 'of-bare', text: 'of bare uWebSockets.js', limit: 0.5, unit: 'ratio', ask: 'at-least' },
  { id: 'of-fastify', text: 'times Fastify with one publish an event', limit: 10, unit: 'ratio', ask: 'at-least' },
  { id: 'memory', text: 'resident memory of the gateway', limit: 200 * megabyte, unit: 'bytes', ask: 'at-most' },
];

/** Most events a second over `POST /track`, each stored and synced before its 200, beside what bounds it. */
export const track: Scenario = {
  name: 'track',
  summary: `most durable tracks a second, ${connections} connections, closed loop`,
  bars,
  async run(context) {
    const measured = new Map<Subject, Measured[]>(subjects.map((subject) => [subject, []]));
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const subject of subjects) {
        measured.get(subject)?.push(await measureOnce(context, subject, `${subject.name}, round ${round}`));
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
    return {
      settings: { connections, syncInterval: 'always' },
      rows,
      measured: {
        'of-bare': own?.['of bare']?.value ?? Number.NaN,
        'of-fastify': ratioFigure(ratesOf(gateway), ratesOf(fastify)).value,
        memory: own?.['memory']?.value ?? Number.NaN,
      },
    };
  },
};

function measureOnce(context: ScenarioContext, subject: Subject, label: string): Promise<Measured> {
  const { seconds, warmUpSeconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    const log = await stage.startLog();
    const token = `src_live_${randomBytes(16).toString('hex')}`;
    const { trackUrl, pid } = await subject.start(stage, log.url, token);
    progress.step(label, seconds + warmUpSeconds);
    const order = {
      url: trackUrl,
      bodies: [trackBody(token)],
      connections,
      warmUpMs: warmUpSeconds * 1000,
      measureMs: seconds * 1000,
    };
    const sampler = startSampler([memoryProbe('memory, last round', pid)]);
    const load = await runLoad(stage, order, ({ perSecond }) => progress.note(`${Math.round(perSecond)}/s`));
    const memory = await sampler.stop(warmUpSeconds);
    assertAllAccepted(subject.name, load);
    return { load, memory, memoryBytes: await peakMemoryBytes(pid) };
  });
}
