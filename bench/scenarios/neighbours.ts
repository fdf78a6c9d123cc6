import { attacks, controls } from '../neighbours/attacks/registry.ts';
import type { Attack } from '../neighbours/attacks/attack.ts';
import { expectedPerS, problemWith, shortfallOf } from '../neighbours/judge-attack.ts';
import { measureAttacked, quietPerS, startQuietLoad, waitSettled } from '../neighbours/measure-beside.ts';
import type { AttackedRun, QuietRun } from '../neighbours/measure-beside.ts';
import { startNeighbourhood } from '../neighbours/neighbourhood.ts';
import type { Neighbourhood } from '../neighbours/neighbourhood.ts';
import { batchBody } from '../load/bodies.ts';
import { percentilesOf } from '../load/load-recorder.ts';
import { runLoad } from '../load/load-process.ts';
import type { LoadResult } from '../load/load-result.ts';
import { plainFigure, ratioFigure } from '../result/figure.ts';
import type { Figure, ResultRow, Unit } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import type { Stage } from '../system/stage.ts';

type Measured = {
  readonly alone: readonly QuietRun[];
  readonly attacked: readonly AttackedRun[];
  readonly load: LoadResult;
};

const busyBatchesPerS = 10;
const busyRows = 500;
/**
 * Factor on the usual warm-up, because code is compiled slowly at this low rate. With a factor of two, the first slice,
 * which has no attack, had two or three times the p99 of later slices, so attacks looked harmless.
 */
const warmUpShare = 5;
/** Minimum lengths for the bars, which judge medians: with fewer slices, a p99 varies by half between runs. */
const judged = { seconds: 4, rounds: 5 };

/** Effect of an attacking account on a well-behaved one, for one attack after the other. */
export const neighbours: Scenario = {
  name: 'neighbours',
  summary: `an account of ${quietPerS} events per second with and without an attacking neighbour in turn; --attacks selects some`,
  isLong: true,
  usual: judged,
  bars: [
    {
      id: 'throughput',
      text: 'lowest delivery rate of the quiet account, relative to its rate alone',
      limit: 0.95,
      unit: 'ratio',
      ask: 'at-least',
    },
    {
      id: 'after',
      text: 'lowest delivery rate of the quiet account after an attack, relative to its rate alone',
      limit: 0.95,
      unit: 'ratio',
      ask: 'at-least',
    },
    {
      id: 'retry',
      text: 'largest part of the retry log that an attack fills',
      limit: 0.55,
      unit: 'ratio',
      ask: 'at-most',
    },
    {
      id: 'p99',
      text: 'worst p99 of the quiet account, relative to its p99 alone',
      limit: 1.5,
      unit: 'ratio',
      ask: 'at-most',
    },
    {
      id: 'log',
      text: 'largest output of the resolvers for an accepted byte',
      limit: 4,
      unit: 'ratio',
      ask: 'at-most',
    },
    {
      id: 'pipeline',
      text: 'largest memory of the pipeline against no attack',
      limit: 1.5,
      unit: 'ratio',
      ask: 'at-most',
    },
    {
      id: 'gateway',
      text: 'largest memory of the gateway against no attack',
      limit: 1.5,
      unit: 'ratio',
      ask: 'at-most',
    },
  ],
  async run(context) {
    const chosen = chooseAttacks(context.attacks);
    const rows: ResultRow[] = [];
    const failures: string[] = [];
    for (const attack of chosen) {
      const row = rowOf(attack, await measureAttack(context, attack));
      rows.push(row);
      const problem = problemWith(attack, row.figures[attackRate]?.value);
      if (problem === undefined) continue;
      failures.push(problem);
      context.say(`! ${problem}`);
    }
    const judgedRows = rows.filter(({ name }) => controls.every((control) => control.name !== name));
    const worst = (figure: string, of: (...values: number[]) => number): number => worstOf(judgedRows, figure, of);
    return {
      settings: {
        quietPerS,
        busyBatchesPerS,
        busyRows,
        syncInterval: 'always',
        attacks: chosen.map(({ name }) => name),
      },
      rows,
      // No bar applies to the controls, so a run with only controls measures no bar.
      measured:
        judgedRows.length === 0
          ? {}
          : {
              throughput: worst('throughput', Math.min),
              ...(rows.some(({ figures }) => 'throughput after' in figures)
                ? { after: worstOf(judgedRows, 'throughput after', Math.min) }
                : {}),
              retry: worst('retry log', Math.max),
              p99: worst('p99', Math.max),
              log: worst('log out/in', Math.max),
              pipeline: worst('pipeline memory', Math.max),
              gateway: worst('gateway memory', Math.max),
            },
      ...(failures.length === 0 ? {} : { failures }),
    };
  },
};

/** The figure with the rate of an attack. */
const attackRate = 'attack/s';

/** The worst value of a figure among the rows that have the figure. */
function worstOf(rows: readonly ResultRow[], figure: string, of: (...values: number[]) => number): number {
  return of(...rows.flatMap(({ figures }) => figures[figure]?.value ?? []));
}

/** The attacks and controls with these names; all of them if `names` is empty. Throws for an unknown name. */
export function chooseAttacks(names: readonly string[]): readonly Attack[] {
  const all = [...controls, ...attacks];
  const unknown = names.filter((name) => all.every((attack) => attack.name !== name));
  if (unknown.length > 0) {
    throw new Error(
      `--attacks: there is no ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}`,
    );
  }
  return names.length === 0 ? all : all.filter(({ name }) => names.includes(name));
}

function measureAttack(context: ScenarioContext, attack: Attack): Promise<Measured> {
  const { seconds, warmUpSeconds, rounds, progress } = context;
  const ms = seconds * 1000;
  return context.stage.scoped(async (stage) => {
    progress.step(`${attack.name}: starting`, 15);
    const place = await startNeighbourhood(stage, attack);
    await keepBusy(stage, place, ms);
    const quiet = await startQuietLoad(stage, place, warmUpShare * warmUpSeconds * 1000);
    const [alone, attacked]: [QuietRun[], AttackedRun[]] = [[], []];
    const measureAlone = async (round: number): Promise<void> => {
      progress.step(`${attack.name}, round ${round}: alone`, seconds);
      alone.push(await quiet.measure(ms));
    };
    for (let round = 1; round <= rounds; round += 1) {
      // Later measurements run on better compiled code, so the order alternates between rounds.
      if (round % 2 === 1) await measureAlone(round);
      progress.step(`${attack.name}, round ${round}: attacked`, seconds + 4);
      const usualCores = Math.max(...alone.map(({ cores }) => cores));
      attacked.push(await measureAttacked(stage, place, attack, quiet, { ms, usualCores }));
      if (round % 2 === 0) await measureAlone(round);
    }
    return { alone, attacked, load: await quiet.stop() };
  });
}

/**
 * Loads the busy, well-behaved account, which brings heaps to their usual size and compiles code, so that an attack is
 * not compared with newly started processes.
 */
async function keepBusy(stage: Stage, { gateway, busy, pids }: Neighbourhood, ms: number): Promise<void> {
  const order = { url: `${gateway.url}/api/v1/batch`, bodies: [batchBody(busy.token, busyRows)], connections: 8 };
  await runLoad(stage, { ...order, warmUpMs: 0, measureMs: ms, ratePerS: busyBatchesPerS });
  await waitSettled(pids);
}

// Large: one row of the table.
function rowOf(attack: Attack, { alone, attacked, load }: Measured): ResultRow {
  const { name, summary, expects } = attack;
  const ratio = (read: (run: QuietRun) => number): Figure => ratioFigure(attacked.map(read), alone.map(read));
  // Only the memory of the first round is the reference, because attacks enlarge the heaps for later rounds.
  const first = alone[0];
  const memory = (read: (run: QuietRun) => number): Figure =>
    plainFigure(
      'ratio',
      'less',
      attacked.map((run) => read(run) / (first === undefined ? Number.NaN : read(first))),
    );
  const of = (unit: Unit, runs: readonly QuietRun[], read: (run: QuietRun) => number): Figure =>
    plainFigure(unit, 'less', runs.map(read));
  const p99Of = ({ latencies }: QuietRun): number => percentilesOf(latencies).p99;
  const after = attacked.flatMap((run) => run.after ?? []);
  const [p99Alone, p99Attacked] = [of('ms', alone, p99Of), of('ms', attacked, p99Of)];
  // Retries may continue after an attack, so only the first slice is certain to be undisturbed.
  const p99Undisturbed = Math.min(p99Alone.value, p99Alone.values?.[0] ?? Number.NaN);
  const rate =
    expects === undefined
      ? undefined
      : plainFigure(
          'per_s',
          'more',
          attacked.map((run) => expectedPerS(expects, run)),
        );
  const shortfall = shortfallOf(expects, rate?.value);
  return {
    name,
    figures: {
      ...(rate === undefined ? {} : { [attackRate]: rate }),
      throughput: ratio(({ deliveredPerS }) => deliveredPerS),
      p99: {
        ...ratioFigure(p99Attacked.values ?? [], p99Alone.values ?? []),
        better: 'less',
        value: p99Attacked.value / p99Undisturbed,
      },
      'p99 alone': p99Alone,
      'p99 attacked': p99Attacked,
      // In the first round, the code that the attack uses is still being compiled.
      'p99 attacked at first': of('ms', attacked.slice(0, 1), p99Of),
      ...(after.length === 0
        ? {}
        : {
            'throughput after': ratioFigure(
              after.map(({ deliveredPerS }) => deliveredPerS),
              alone.map(({ deliveredPerS }) => deliveredPerS),
            ),
            'p99 after': of('ms', after, p99Of),
          }),
      'retry log': plainFigure(
        'ratio',
        'less',
        attacked.map(({ retryShare }) => retryShare),
      ),
      'log out/in': plainFigure(
        'ratio',
        'less',
        attacked.map(({ logRatio }) => logRatio),
      ),
      'pipeline memory': memory(({ pipelineBytes }) => pipelineBytes),
      'gateway memory': memory(({ gatewayBytes }) => gatewayBytes),
      'read alone': of('ms', alone, ({ readP90Ms }) => readP90Ms),
      'read attacked': of('ms', attacked, ({ readP90Ms }) => readP90Ms),
      'cores alone': of('ratio', alone, ({ cores }) => cores),
      'cores attacked': of('ratio', attacked, ({ cores }) => cores),
      'waiting alone': of('ratio', alone, ({ waiting }) => waiting),
      'waiting attacked': of('ratio', attacked, ({ waiting }) => waiting),
    },
    series: [
      {
        chart: 'throughput',
        name: 'delivered while attacked',
        unit: 'per_s',
        points: attacked.flatMap(({ throughput }) => throughput),
      },
    ],
    note: `${summary}; ${shortfall === undefined ? '' : `${shortfall}; `}the attacker was answered ${describeAnswers(attacked.at(-1))}, the quiet account ${JSON.stringify(load.byStatus)}`,
  };
}

function describeAnswers(run: AttackedRun | undefined): string {
  return Object.entries(run?.tally.answers ?? {})
    .map(([status, times]) => `${status}: ${times}`)
    .join(', ');
}
