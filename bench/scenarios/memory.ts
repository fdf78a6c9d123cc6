import { batchBody, trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import { plainFigure } from '../result/figure.ts';
import type { ResultRow, Series } from '../result/result.ts';
import { familyMemoryProbe, startSampler } from '../system/sampler.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { sleep } from '../machine/wait-until.ts';
import { waitArrived } from '../sink/sink.ts';
import { pidsOfStack, startWholeStack } from '../whole-path/whole-stack.ts';

const mebibyte = 1024 ** 2;
const connections = { single: 64, batch: 8 };
const batchRows = 500;
/** Fraction of the time with batches; delivering their events one by one takes longer than accepting them. */
const batchShare = 0.25;
/** Wait until the garbage that the start left is collected. */
const settleSeconds = 5;
const sampleMs = 250;
/** Minimum length of a load: a shorter one might end before its first response. */
const leastLoadMs = 3_000;

/** Memory lines for each state, one line per process. */
type States = { readonly rest: readonly Series[]; readonly busy: readonly Series[]; readonly after: readonly Series[] };

const states = {
  rest: 'at rest',
  busy: 'full load, single events and batches',
  after: 'at rest again, once all was delivered',
} as const;

/** Memory of every process of `npm start`, at rest and at its maximum. */
export const memory: Scenario = {
  name: 'memory',
  summary: 'memory of every process of the whole stack, at rest and under full load',
  usual: { seconds: 20 },
  bars: [
    { id: 'rest', text: 'all processes at rest, on a new log', limit: 500 * mebibyte, unit: 'bytes', ask: 'at-most' },
    { id: 'busy', text: 'all processes under full load, peak', limit: 900 * mebibyte, unit: 'bytes', ask: 'at-most' },
  ],
  async run(context) {
    const rounds: States[] = [];
    for (let round = 1; round <= context.rounds; round += 1) {
      const found = await context.attempt('the stack', () => measureOnce(context, round));
      if (found !== undefined) rounds.push(found);
    }
    const rows = (Object.keys(states) as (keyof States)[]).map((state): ResultRow => {
      const lines = rounds.map((found) => found[state]);
      const processes = lines[0]?.map(({ name }) => name) ?? [];
      return {
        name: states[state],
        figures: {
          all: plainFigure('bytes', 'less', lines.map(mostTogether)),
          ...Object.fromEntries(
            processes.map((process) => [
              process,
              plainFigure(
                'bytes',
                'less',
                lines.map((series) => mostOf(series.find(({ name }) => name === process))),
              ),
            ]),
          ),
        },
        series: lines.at(-1) ?? [],
      };
    });
    return {
      settings: { connections, batchRows, settleSeconds, counted: 'proportional set size, most in each state' },
      rows,
      measured: {
        rest: rows[0]?.figures['all']?.value ?? Number.NaN,
        busy: rows[1]?.figures['all']?.value ?? Number.NaN,
      },
    };
  },
};

function measureOnce(context: ScenarioContext, round: number): Promise<States> {
  const { seconds, progress } = context;
  return context.stage.scoped(async (stage) => {
    progress.step(`starting, round ${round}`, 10);
    const stack = await startWholeStack(stage);
    const { sink, group } = stack;
    const watch = async (label: string, work: () => Promise<unknown>): Promise<readonly Series[]> => {
      progress.step(`${label}, round ${round}`, seconds);
      const probes = Object.entries(pidsOfStack(stack)).map(([name, pid]) => familyMemoryProbe(name, pid));
      const sampler = startSampler(probes, sampleMs);
      await work();
      return sampler.stop();
    };
    const atRest = async (): Promise<readonly Series[]> => {
      await sleep(settleSeconds * 1000);
      return watch('at rest', () => sleep(2_000));
    };
    const rest = await atRest();
    let events = 0;
    const load = async (kind: 'single' | 'batch'): Promise<void> => {
      const isSingle = kind === 'single';
      const path = isSingle ? 'track' : 'batch';
      const body = isSingle ? trackBody(stack.token) : batchBody(stack.token, batchRows);
      const order = { url: `${stack.gateway.url}/api/v1/${path}`, bodies: [body], connections: connections[kind] };
      const share = isSingle ? 1 - batchShare : batchShare;
      const measureMs = Math.max(leastLoadMs, seconds * share * 1000);
      const found = await runLoad(stage, { ...order, warmUpMs: 0, measureMs });
      assertAllAccepted(path, found);
      events += found.acceptedInAll * (isSingle ? 1 : batchRows);
    };
    const busy = await watch('full load', async () => {
      await load('single');
      await load('batch');
      await waitArrived(sink, group, events);
    });
    return { rest, busy, after: await atRest() };
  });
}

const mostOf = (series: Series | undefined): number => Math.max(...(series?.points ?? []).map(([, bytes]) => bytes));

/** Maximum over time of the sum of all lines; point n of each line was sampled at about the same time. */
function mostTogether(lines: readonly Series[]): number {
  const points = Math.min(...lines.map((line) => line.points.length));
  const sums = Array.from({ length: points }, (_, at) =>
    lines.reduce((sum, line) => sum + (line.points[at]?.[1] ?? 0), 0),
  );
  return sums.length === 0 ? Number.NaN : Math.max(...sums);
}
