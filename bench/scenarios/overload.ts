import { destinationIdOf } from '../config/ids.ts';
import { trackBody } from '../load/bodies.ts';
import { plainFigure } from '../result/figure.ts';
import type { ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { timesOf } from '../system/scenario.ts';
import { runPaced } from '../sustained/paced-run.ts';
import type { Paced } from '../sustained/paced-run.ts';
import { startWholePath } from '../whole-path/whole-path.ts';

const group = 'in';
const connections = 64;
/**
 * Requests per second: as many as the gateway alone can accept, which is a multiple of the rate that can be delivered.
 */
const ratePerS = 20_000;
/** A request is dropped after this wait for a connection, so that waiting before the gateway is not measured. */
const givesUpAfterMs = 100;
const ageMaxMs = 2_000;

type Arm = { readonly name: string; readonly env: Readonly<Record<string, string>> };

const unbounded: Arm = { name: 'no limit', env: {} };
const bounded: Arm = {
  name: `BACKPRESSURE_AGE_MAX_MS=${ageMaxMs}`,
  env: { BACKPRESSURE_AGE_MAX_MS: String(ageMaxMs) },
};

/** Deliveries while more events are received than can be delivered, with and without backpressure on sources. */
export const overload: Scenario = {
  name: 'overload',
  summary: 'overload: how much of what is accepted is delivered, and how late',
  usual: { seconds: 30, rounds: 1 },
  bars: [
    {
      id: 'share',
      text: 'delivered part of the accepted events, sources held back',
      limit: 0.5,
      unit: 'ratio',
      ask: 'at-least',
    },
    { id: 'p99', text: 'event to delivered, p99, sources held back', limit: 4 * ageMaxMs, unit: 'ms', ask: 'at-most' },
  ],
  async run(context) {
    const measured = new Map<Arm, Paced[]>([
      [unbounded, []],
      [bounded, []],
    ]);
    for (let round = 1; round <= context.rounds; round += 1) {
      for (const [arm, found] of measured) {
        const paced = await context.attempt(arm.name, () => measureOnce(context, arm, round));
        if (paced !== undefined) found.push(paced);
      }
    }
    const rows = [...measured].map(([arm, found]) => rowOf(arm, found));
    const value = (figure: string): number =>
      rows.find(({ name }) => name === bounded.name)?.figures[figure]?.value ?? Number.NaN;
    return {
      settings: {
        connections,
        ratePerS,
        givesUpAfterMs,
        ageMaxMs,
        syncInterval: 'always',
        destinations: 1,
      },
      rows,
      measured: { share: value('delivered of taken'), p99: value('p99') },
    };
  },
};

const takenPerS = ({ load }: Paced): number => (load.byStatus['200'] ?? 0) / load.seconds;

function rowOf({ name }: Arm, found: readonly Paced[]): ResultRow {
  const latency = (of: 'p50' | 'p99') =>
    plainFigure(
      'ms',
      'less',
      found.map(({ arrived }) => arrived.overallMs[of]),
    );
  return {
    name,
    figures: {
      'taken/s': plainFigure('per_s', 'more', found.map(takenPerS)),
      'delivered/s': plainFigure(
        'per_s',
        'more',
        found.map(({ deliveredPerS }) => deliveredPerS),
      ),
      'delivered of taken': plainFigure(
        'ratio',
        'more',
        found.map(({ deliveredShare }) => deliveredShare),
      ),
      p50: latency('p50'),
      p99: latency('p99'),
    },
    series: found.at(-1)?.series ?? [],
    note: `answers by status: ${found.map(({ load }) => JSON.stringify(load.byStatus)).join('; ')}`,
  };
}

function measureOnce(context: ScenarioContext, { name, env }: Arm, round: number): Promise<Paced> {
  const { seconds, warmUpSeconds, progress, stage } = context;
  return stage.scoped(async (scoped) => {
    progress.step(`${name}, round ${round}`, seconds + warmUpSeconds + 8);
    const path = await startWholePath(scoped, {
      destinations: (sink) => [{ id: destinationIdOf(0), url: sink.urlOf(`${group}/1`), batchSize: 1 }],
      env,
    });
    return runPaced({
      stage: scoped,
      sink: path.sink,
      group,
      order: {
        url: `${path.gateway.url}/api/v1/track`,
        bodies: [trackBody(path.token)],
        connections,
        ratePerS,
        givesUpAfterMs,
      },
      ...timesOf(context),
      eventsPerRequest: 1,
      pipeline: path.pipeline,
      services: [path.gateway, path.pipeline],
      pids: { gateway: path.gateway.pid, pipeline: path.pipeline.pid },
      onWindow: (perS) => progress.note(`${Math.round(perS)} delivered/s`),
    });
  });
}
