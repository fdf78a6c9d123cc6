import { attacks } from '../neighbours/attacks/registry.ts';
import type { Attack } from '../neighbours/attacks/attack.ts';
import { measureAttacked, measureQuiet, quietPerS, waitSettled } from '../neighbours/measure-beside.ts';
import type { AttackedRun, QuietRun } from '../neighbours/measure-beside.ts';
import { startNeighbourhood } from '../neighbours/neighbourhood.ts';
import type { Neighbourhood } from '../neighbours/neighbourhood.ts';
import { batchBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import { plainFigure, ratioFigure } from '../result/figure.ts';
import type { Figure, ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import type { Stage } from '../system/stage.ts';

type Measured = { readonly alone: readonly QuietRun[]; readonly attacked: readonly AttackedRun[] };

const busyBatchesPerS = 10;
const busyRows = 500;

/** What an account that behaves notices of one that attacks, an attack at a time. */
export const neighbours: Scenario = {
  name: 'neighbours',
  summary: `an account of ${quietPerS} events a second beside one that attacks, by turns with and without; --attacks chooses some`,
  isLong: true,
  bars: [
    {
      id: 'throughput',
      text: 'least delivered to the quiet account against alone',
      limit: 0.95,
      unit: 'ratio',
      ask: 'at-least',
    },
    { id: 'p99', text: 'worst p99 to delivered against alone', limit: 1.5, unit: 'ratio', ask: 'at-most' },
    { id: 'log', text: 'most bytes out of the resolvers for a byte in', limit: 4, unit: 'ratio', ask: 'at-most' },
    { id: 'pipeline', text: 'most memory of the pipeline against without', limit: 1.5, unit: 'ratio', ask: 'at-most' },
    { id: 'gateway', text: 'most memory of the gateway against without', limit: 1.5, unit: 'ratio', ask: 'at-most' },
  ],
  async run(context) {
    const chosen = chooseAttacks(context.attacks);
    const rows: ResultRow[] = [];
    for (const attack of chosen) rows.push(rowOf(attack, await measureAttack(context, attack)));
    const worst = (figure: string, of: (...values: number[]) => number): number =>
      of(...rows.map(({ figures }) => figures[figure]?.value ?? Number.NaN));
    return {
      settings: {
        quietPerS,
        busyBatchesPerS,
        busyRows,
        syncInterval: 'always',
        attacks: chosen.map(({ name }) => name),
      },
      rows,
      measured: {
        throughput: worst('throughput', Math.min),
        p99: worst('p99', Math.max),
        log: worst('log out/in', Math.max),
        pipeline: worst('pipeline memory', Math.max),
        gateway: worst('gateway memory', Math.max),
      },
    };
  },
};

/** Those with these names, or all. Throws where there is none of a name. */
export function chooseAttacks(names: readonly string[]): readonly Attack[] {
  const unknown = names.filter((name) => attacks.every((attack) => attack.name !== name));
  if (unknown.length > 0) {
    throw new Error(
      `--attacks: there is no ${unknown.join(', ')}; there are ${attacks.map(({ name }) => name).join(', ')}`,
    );
  }
  return names.length === 0 ? attacks : attacks.filter(({ name }) => names.includes(name));
}

function measureAttack(context: ScenarioContext, attack: Attack): Promise<Measured> {
  const { seconds, warmUpSeconds, rounds, progress } = context;
  const times = { warmUpMs: warmUpSeconds * 1000, measureMs: seconds * 1000 };
  return context.stage.scoped(async (stage) => {
    progress.step(`${attack.name}: starting`, 15);
    const place = await startNeighbourhood(stage, attack);
    await keepBusy(stage, place, times);
    const [alone, attacked]: [QuietRun[], AttackedRun[]] = [[], []];
    for (let round = 1; round <= rounds; round += 1) {
      progress.step(`${attack.name}, round ${round}: alone`, seconds + warmUpSeconds + 3);
      alone.push(await measureQuiet(stage, place, times));
      progress.step(`${attack.name}, round ${round}: attacked`, seconds + warmUpSeconds + 6);
      attacked.push(await measureAttacked(stage, place, attack, times));
    }
    return { alone, attacked };
  });
}

/**
 * A neighbour that behaves and has much to send. Heaps get the size they have in use, and code is compiled: what an attack
 * is compared with is not a process that was just started.
 */
async function keepBusy(
  stage: Stage,
  { gateway, target, pids }: Neighbourhood,
  times: { measureMs: number },
): Promise<void> {
  const order = { url: `${gateway.url}/api/v1/batch`, bodies: [batchBody(target.token, busyRows)], connections: 8 };
  await runLoad(stage, { ...order, warmUpMs: 0, measureMs: times.measureMs, ratePerS: busyBatchesPerS });
  await waitSettled(pids);
}

function rowOf({ name, summary }: Attack, { alone, attacked }: Measured): ResultRow {
  const ratio = (read: (run: QuietRun) => number): Figure => ratioFigure(attacked.map(read), alone.map(read));
  const worse = (read: (run: QuietRun) => number): Figure => ({ ...ratio(read), better: 'less' });
  // What was grown by one round's attack is not what the next one is compared with.
  const first = alone[0];
  const memory = (read: (run: QuietRun) => number): Figure =>
    plainFigure(
      'ratio',
      'less',
      attacked.map((run) => read(run) / (first === undefined ? Number.NaN : read(first))),
    );
  const p99 = ({ p99Ms }: QuietRun): number => p99Ms;
  return {
    name,
    figures: {
      throughput: ratio(({ deliveredPerS }) => deliveredPerS),
      p99: worse(p99),
      'p99 alone': plainFigure('ms', 'less', alone.map(p99)),
      'p99 attacked': plainFigure('ms', 'less', attacked.map(p99)),
      'log out/in': plainFigure(
        'ratio',
        'less',
        attacked.map(({ logRatio }) => logRatio),
      ),
      'pipeline memory': memory(({ pipelineBytes }) => pipelineBytes),
      'gateway memory': memory(({ gatewayBytes }) => gatewayBytes),
      'read alone': plainFigure(
        'ms',
        'less',
        alone.map(({ readP90Ms }) => readP90Ms),
      ),
      'read attacked': plainFigure(
        'ms',
        'less',
        attacked.map(({ readP90Ms }) => readP90Ms),
      ),
    },
    series: attacked.at(-1)?.series ?? [],
    note: `${summary}; the attacker was answered ${describeAnswers(attacked.at(-1))}, the quiet account ${JSON.stringify(attacked.at(-1)?.load.byStatus)}`,
  };
}

function describeAnswers(run: AttackedRun | undefined): string {
  return Object.entries(run?.tally.answers ?? {})
    .map(([status, times]) => `${status}: ${times}`)
    .join(', ');
}
