import { destinationIdOf } from '../config/ids.ts';
import { trackBody } from '../load/bodies.ts';
import { isAllAccepted } from '../load/load-result.ts';
import { peakMemoryBytes } from '../machine/process-use.ts';
import { figureOf, plainFigure } from '../result/figure.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { timesOf } from '../system/scenario.ts';
import { gcFigures } from '../system/gc-watch.ts';
import { describeTrials, findSustained } from '../sustained/find-sustained.ts';
import type { Trial } from '../sustained/find-sustained.ts';
import { runPaced } from '../sustained/paced-run.ts';
import type { Paced } from '../sustained/paced-run.ts';
import { startWholePath } from '../whole-path/whole-path.ts';

const group = 'in';
const connections = 64;
/** Limit for a delivery in time, from when its request was due to its arrival at the sink. */
const p99MsMax = 100;
/** The first rate that is tried is four fifths of it. */
const guessPerS = 5_000;

type Measured = {
  readonly ratePerS: number;
  /** The highest rate that was in time. */
  readonly best: Paced | undefined;
  readonly trials: readonly Trial[];
  readonly memoryBytes: number;
};

/** How many single events a second one machine delivers before they become late. */
export const inTime: Scenario = {
  name: 'in-time',
  summary: `single events a second up to which 99 of 100 are at a sink within ${p99MsMax} ms, open loop`,
  bars: [
    {
      id: 'rate',
      text: `single events with a p99 within ${p99MsMax} ms`,
      limit: 10_000,
      unit: 'per_s',
      ask: 'at-least',
    },
  ],
  async run(context) {
    const rounds: Measured[] = [];
    for (let round = 1; round <= context.rounds; round += 1) {
      const found = await context.attempt('the whole path', () => measureOnce(context, round));
      if (found !== undefined) rounds.push(found);
    }
    const best = rounds.map((found) => found.best);
    const latency = (of: 'p50' | 'p99') =>
      plainFigure(
        'ms',
        'less',
        best.map((paced) => paced?.arrived.overallMs[of] ?? Number.NaN),
      );
    const rate = figureOf(
      'per_s',
      'more',
      rounds.map(({ ratePerS, best: paced }) => ({ value: ratePerS, readings: paced?.readings ?? [] })),
    );
    return {
      settings: { connections, p99MsMax, syncInterval: 'always', destinations: 1 },
      rows: [
        {
          name: 'single events to one destination',
          figures: {
            'events/s': rate,
            ...gcFigures(best.map((paced) => paced?.gc)),
            p50: latency('p50'),
            p99: latency('p99'),
            memory: plainFigure(
              'bytes',
              'less',
              rounds.map(({ memoryBytes }) => memoryBytes),
            ),
          },
          series: best.at(-1)?.series ?? [],
          note: describeTrials(rounds.map(({ trials }) => trials)),
        },
      ],
      measured: { rate: rate.value },
    };
  },
};

function measureOnce(context: ScenarioContext, round: number): Promise<Measured> {
  const { seconds, warmUpSeconds, progress, isQuick } = context;
  return context.stage.scoped(async (stage) => {
    const { sink, gateway, pipeline, token } = await startWholePath(stage, {
      destinations: (sink) => [{ id: destinationIdOf(0), url: sink.urlOf(`${group}/1`), batchSize: 1 }],
    });
    const run = (ratePerS: number): Promise<Paced> => {
      progress.step(`${Math.round(ratePerS)}/s, round ${round}`, seconds + warmUpSeconds + 2);
      return runPaced({
        stage,
        sink,
        group,
        order: { url: `${gateway.url}/api/v1/track`, bodies: [trackBody(token)], connections, ratePerS },
        ...timesOf(context),
        eventsPerRequest: 1,
        pipeline,
        services: [gateway, pipeline],
        pids: { gateway: gateway.pid, pipeline: pipeline.pid },
        onWindow: (perS) => progress.note(`${Math.round(perS)} delivered/s`),
      });
    };
    // Visitors are made and code is compiled first; both happen once.
    await run(guessPerS);
    let best: Paced | undefined;
    const { ratePerS, trials } = await findSustained({
      guessPerS,
      steps: isQuick ? 4 : 6,
      async holds(eventsPerS) {
        const paced = await run(eventsPerS);
        const isInTime = paced.arrived.overallMs.p99 <= p99MsMax && isAllAccepted(paced.load);
        if (isInTime) best = paced;
        return isInTime;
      },
    });
    const memoryBytes = (await peakMemoryBytes(gateway.pid)) + (await peakMemoryBytes(pipeline.pid));
    return { ratePerS, best, trials, memoryBytes };
  });
}
