import { findFreePort } from '../../shared/embedded/machine/free-port.ts';
import { destinationIdOf } from '../config/ids.ts';
import type { BenchDestination } from '../config/account-document.ts';
import { fillEvents } from '../fill/fill-events.ts';
import { trackBody } from '../load/bodies.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import { figureOf, plainFigure, ratioFigure } from '../result/figure.ts';
import type { ResultRow } from '../result/result.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { timesOf } from '../system/scenario.ts';
import { measureArrivals } from '../sink/measure-arrivals.ts';
import type { Arrived } from '../sink/measure-arrivals.ts';
import { slowGroup } from '../sink/sink-messages.ts';
import { startSink, waitArrived } from '../sink/sink.ts';
import type { Sink } from '../sink/sink.ts';
import { runPaced } from '../sustained/paced-run.ts';
import type { Paced } from '../sustained/paced-run.ts';
import type { Stage } from '../system/stage.ts';
import { gcFigures } from '../system/gc-watch.ts';
import { whilePaused } from '../system/services.ts';
import { startWholePath } from '../whole-path/whole-path.ts';
import type { WholePath } from '../whole-path/whole-path.ts';

const healthy = 8;
const group = 'good';
const connections = 64;
/** Rate for sizing the backlog, so that it outlasts the measurement. */
const deliveriesPerS = 24_000;
/**
 * Rate at which latency is measured, as a fraction of the drained rate: busy but far from full, because single events
 * cost several times as much as events of a backlog.
 */
const pacedShare = 0.12;
/**
 * Minimum lengths for judging the bars: in shorter runs the p99 varies by half, which hides the effect of two
 * destinations.
 */
const judged = { seconds: 60, rounds: 5 };
/** Maximum length of draining a backlog, however long the paced measurement is. */
const drainSecondsMax = 5;

type Arm = { readonly name: string; readonly isDisturbed: boolean };
type Measured = { readonly drained: Arrived; readonly paced: Paced };

const alone: Arm = { name: `${healthy} destinations alone`, isDisturbed: false };
const disturbed: Arm = { name: `the same ${healthy} beside a dead and a slow one`, isDisturbed: true };

/**
 * Effect of a dead and a slow destination on healthy ones. The healthy ones drain their backlog at 0.85 of the rate of
 * the build 8f40e7d7, for the reasons given at `dispatch`.
 */
export const isolation: Scenario = {
  name: 'isolation',
  summary: `${healthy} destinations with and without a dead and a slow one (30 s) beside them, round by round`,
  usual: judged,
  bars: [
    {
      id: 'throughput',
      text: 'throughput of the healthy destinations, relative to their throughput alone',
      limit: 0.95,
      unit: 'ratio',
      ask: 'at-least',
    },
    {
      id: 'p99',
      text: 'p99 of the healthy destinations, relative to their p99 alone',
      limit: 1.05,
      unit: 'ratio',
      ask: 'at-most',
    },
  ],
  async run(context) {
    const measured = new Map<Arm, Measured[]>([
      [alone, []],
      [disturbed, []],
    ]);
    let pacePerS: number | undefined;
    for (let round = 1; round <= context.rounds; round += 1) {
      // The order alternates between rounds, so that neither of the two always has the warmer disk.
      for (const arm of round % 2 === 1 ? [alone, disturbed] : [disturbed, alone]) {
        const pace = pacePerS;
        const found = await context.attempt(arm.name, () => measureOnce(context, arm, round, pace));
        if (found === undefined) continue;
        pacePerS ??= (found.drained.rate.value / healthy) * pacedShare;
        measured.get(arm)?.push(found);
      }
    }
    const of = (arm: Arm, read: (found: Measured) => number): number[] => (measured.get(arm) ?? []).map(read);
    const rate = ({ drained }: Measured): number => drained.rate.value;
    const p99 = ({ paced }: Measured): number => paced.arrived.overallMs.p99;
    const rows = [alone, disturbed].map((arm): ResultRow => ({
      name: arm.name,
      figures: {
        'drained/s': figureOf(
          'per_s',
          'more',
          (measured.get(arm) ?? []).map(({ drained }) => drained.rate),
        ),
        'paced/s': plainFigure(
          'per_s',
          'more',
          of(arm, ({ paced }) => paced.deliveredPerS),
        ),
        ...gcFigures((measured.get(arm) ?? []).map(({ paced }) => paced.gc)),
        p50: plainFigure(
          'ms',
          'less',
          of(arm, ({ paced }) => paced.arrived.overallMs.p50),
        ),
        p99: plainFigure('ms', 'less', of(arm, p99)),
      },
      series: measured.get(arm)?.at(-1)?.paced.series ?? [],
    }));
    const isJudged = context.seconds >= judged.seconds && context.rounds >= judged.rounds;
    return {
      settings: { healthy, pacePerS, drainSecondsMax, pacedShare, syncInterval: 'always' },
      rows,
      measured: {
        throughput: ratioFigure(of(disturbed, rate), of(alone, rate)).value,
        ...(isJudged ? { p99: ratioFigure(of(disturbed, p99), of(alone, p99)).value } : {}),
      },
    };
  },
};

function measureOnce(
  context: ScenarioContext,
  arm: Arm,
  round: number,
  pacePerS: number | undefined,
): Promise<Measured> {
  const { seconds, warmUpSeconds, progress } = context;
  const times = timesOf(context);
  return context.stage.scoped(async (stage) => {
    const drainSeconds = Math.min(seconds, drainSecondsMax);
    const events = Math.ceil((deliveriesPerS * (drainSeconds + warmUpSeconds + 1)) / healthy);
    progress.step(`${arm.name}, round ${round}: draining`, drainSeconds + warmUpSeconds + 8);
    const sink = await startSink(stage);
    const path = await startArm(stage, arm, sink, await findFreePort());
    const { natsUrl, accountId } = path;
    await whilePaused(path.pipeline.pid, () => fillEvents({ natsUrl, accountId, events }));
    const onWindow = (perS: number): void => progress.note(`${Math.round(perS)}/s`);
    const drainTimes = { ...times, measureMs: drainSeconds * 1000 };
    const drained = await measureArrivals({ sink, group, ...drainTimes, eventsMax: events * healthy, onWindow });
    // Frames that were not acknowledged in time are delivered again afterwards.
    await waitArrived(sink, group, events * healthy);
    progress.step(`${arm.name}, round ${round}: paced`, seconds + warmUpSeconds + 2);
    const ratePerS = pacePerS ?? (drained.rate.value / healthy) * pacedShare;
    const order = { url: `${path.gateway.url}/api/v1/track`, bodies: [trackBody(path.token)], connections, ratePerS };
    const paced = await runPaced({
      stage,
      sink,
      group,
      order,
      ...times,
      eventsPerRequest: healthy,
      pipeline: path.pipeline,
      services: [path.gateway, path.pipeline],
      onWindow,
    });
    assertAllAccepted(arm.name, paced.load);
    return { drained, paced };
  });
}

function startArm(stage: Stage, arm: Arm, sink: Sink, deadPort: number): Promise<WholePath> {
  const good = Array.from({ length: healthy }, (_, index): BenchDestination => ({
    id: destinationIdOf(index),
    url: sink.urlOf(`${group}/${index}`),
  }));
  const bad: BenchDestination[] = [
    { id: destinationIdOf(healthy), url: `http://127.0.0.1:${deadPort}/` },
    { id: destinationIdOf(healthy + 1), url: sink.urlOf(`${slowGroup}/1`) },
  ];
  return startWholePath(stage, {
    sink,
    destinations: () => (arm.isDisturbed ? [...good, ...bad] : good),
  });
}
