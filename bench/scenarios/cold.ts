import { destinationIdOf } from '../config/ids.ts';
import { trackBody } from '../load/bodies.ts';
import { runLoad } from '../load/load-process.ts';
import type { LoadResult } from '../load/load-result.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import { sleep } from '../machine/wait-until.ts';
import { meanOf, plainFigure } from '../result/figure.ts';
import type { Figure, Point } from '../result/result.ts';
import type { Sink } from '../sink/sink.ts';
import { waitArrived } from '../sink/sink.ts';
import type { Scenario, ScenarioContext } from '../system/scenario.ts';
import { startPipeline } from '../system/services.ts';
import type { Stage } from '../system/stage.ts';
import { startWholePath } from '../whole-path/whole-path.ts';
import type { WholePath } from '../whole-path/whole-path.ts';

const group = 'in';
const connections = 32;
/** Time for which the load generator and the destination run before the first event, so that both are warm. */
const rehearsalMs = 5_000;
/** Duration of the start whose rate is judged. */
const firstSeconds = 5;
/** Time from the first event until the process counts as warm. */
const warmAfterSecondsOf = ({ isQuick }: Pick<ScenarioContext, 'isQuick'>): number => (isQuick ? 8 : 20);
const windowMs = 500;
/** Rate at which the pipeline is restarted, as a fraction of the warm rate. */
const restartShare = 0.4;
/** Time between stopping the pipeline and starting it again. */
const awayMs = 3_000;
/** Maximum recovery time, counted from when the pipeline is ready; a longer recovery counts as this maximum. */
const recoveryMsMaxOf = ({ isQuick }: Pick<ScenarioContext, 'isQuick'>): number => (isQuick ? 8_000 : 20_000);
/** The backlog counts as worked off when it is no larger than the number of events in this time. */
const onItsWayS = 0.25;

type Cold = {
  readonly warmPerS: number;
  /** Delivered rate over the first seconds, and over the last of these seconds, as fractions of the warm rate. */
  readonly firstShare: number;
  readonly lastSecondShare: number;
  readonly takenShare: number;
  readonly delivered: readonly Point[];
};
type Restart = { readonly share: number; readonly perS: number; readonly readyS: number; readonly recoveryS: number };
type Measured = { readonly cold: Cold; readonly restart: Restart | undefined };

/** Rates in the first seconds of newly started processes, as fractions of their warm rates. */
export const cold: Scenario = {
  name: 'cold',
  summary: `single events in the first ${firstSeconds} s from ready, and recovery of a backlog after a restart, relative to the warm rate`,
  bars: [
    {
      id: 'first',
      text: `delivered in the first ${firstSeconds} s, against the warm rate`,
      limit: 0.7,
      unit: 'ratio',
      ask: 'at-least',
    },
    {
      id: 'restart',
      text: 'recovery of the backlog after a restart, against the warm rate',
      limit: 0.7,
      unit: 'ratio',
      ask: 'at-least',
    },
  ],
  // Large: one measurement from start to end.
  async run(context) {
    const rounds: Measured[] = [];
    for (let round = 1; round <= context.rounds; round += 1) {
      const found = await context.attempt('a fresh start', () => measureOnce(context, round));
      if (found !== undefined) rounds.push(found);
    }
    const colds = rounds.map((found) => found.cold);
    const restarts = rounds.flatMap(({ restart }) => (restart === undefined ? [] : [restart]));
    const of = (unit: Figure['unit'], values: readonly number[], better: Figure['better'] = 'more'): Figure =>
      plainFigure(unit, better, values);
    const ratios = {
      first: of(
        'ratio',
        colds.map(({ firstShare }) => firstShare),
      ),
      restart: of(
        'ratio',
        restarts.map(({ share }) => share),
      ),
    };
    return {
      settings: {
        connections,
        rehearsalMs,
        firstSeconds,
        warmAfterSeconds: warmAfterSecondsOf(context),
        restartShare,
        awayMs,
        syncInterval: 'always',
      },
      rows: [
        {
          name: 'gateway and pipeline just started, closed loop',
          figures: {
            'events/s': of(
              'per_s',
              colds.map(({ warmPerS }) => warmPerS),
            ),
            'of warm': ratios.first,
            'of warm, last second': of(
              'ratio',
              colds.map(({ lastSecondShare }) => lastSecondShare),
            ),
            'taken, of warm': of(
              'ratio',
              colds.map(({ takenShare }) => takenShare),
            ),
          },
          series: [{ chart: 'throughput', name: 'delivered', unit: 'per_s', points: colds.at(-1)?.delivered ?? [] }],
          note: 'events/s: delivered once warm',
        },
        {
          name: `pipeline restarted at ${restartShare} of that`,
          figures: {
            'events/s': of(
              'per_s',
              restarts.map(({ perS }) => perS),
            ),
            'of warm': ratios.restart,
            'until ready': of(
              's',
              restarts.map(({ readyS }) => readyS),
              'less',
            ),
            'backlog gone after': of(
              's',
              restarts.map(({ recoveryS }) => recoveryS),
              'less',
            ),
          },
          note: 'events/s: delivered while the backlog was processed',
        },
      ],
      measured: { first: ratios.first.value, restart: ratios.restart.value },
    };
  },
};

function measureOnce(context: ScenarioContext, round: number): Promise<Measured> {
  const { progress } = context;
  const [warmAfterSeconds, recoveryMsMax] = [warmAfterSecondsOf(context), recoveryMsMaxOf(context)];
  return context.stage.scoped(async (stage) => {
    progress.step(`fresh start, round ${round}`, warmAfterSeconds + firstSeconds);
    const path = await startWholePath(stage, {
      destinations: (sink) => [{ id: destinationIdOf(0), url: sink.urlOf(`${group}/1`) }],
    });
    const found = await measureCold(stage, path, warmAfterSeconds);
    progress.step(`restart under load, round ${round}`, (2 * awayMs + recoveryMsMax) / 1000);
    const restart = await context.attempt('a restart under load', () =>
      measureRestart(stage, path, { warmPerS: found.warmPerS, recoveryMsMax }),
    );
    return { cold: found, restart };
  });
}

async function measureCold(stage: Stage, path: WholePath, warmAfterSeconds: number): Promise<Cold> {
  const seconds = warmAfterSeconds + firstSeconds;
  const rehearsal = { url: path.sink.urlOf('rehearsal/1'), ms: rehearsalMs };
  let watching: Promise<readonly Point[]> | undefined;
  const load = await runLoad(
    stage,
    { ...orderOf(path), rehearsal, connections, warmUpMs: 0, measureMs: seconds * 1000 },
    undefined,
    () => {
      watching = watchDelivered(path.sink, seconds * 1000);
      watching.catch(() => undefined);
    },
  );
  assertAllAccepted('a fresh start', load);
  const delivered = (await watching) ?? [];
  await waitArrived(path.sink, group, load.acceptedInAll);
  const rateIn = (fromS: number, untilS: number): number =>
    meanOf(delivered.filter(([atS]) => atS > fromS && atS <= untilS + windowMs / 2_000).map(([, perS]) => perS));
  const warmPerS = rateIn(warmAfterSeconds, seconds);
  return {
    warmPerS,
    firstShare: rateIn(0, firstSeconds) / warmPerS,
    lastSecondShare: rateIn(firstSeconds - 1, firstSeconds) / warmPerS,
    takenShare: takenIn(load, 0, firstSeconds) / takenIn(load, warmAfterSeconds, seconds),
    delivered,
  };
}

const orderOf = ({ gateway, token }: WholePath) => ({
  url: `${gateway.url}/api/v1/track`,
  bodies: [trackBody(token)],
});

function takenIn({ windows }: LoadResult, fromS: number, untilS: number): number {
  return meanOf(
    windows.filter(({ atS }) => atS > fromS + 0.5 && atS <= untilS + 0.5).map(({ perSecond }) => perSecond),
  );
}

/** Deliveries per second, window by window, counted from now. */
async function watchDelivered(sink: Sink, ms: number): Promise<readonly Point[]> {
  const points: Point[] = [];
  const first = await sink.tally();
  let last = { atMs: first.atMs, events: first.groups[group]?.events ?? 0 };
  while (last.atMs - first.atMs < ms - windowMs / 2) {
    await sleep(windowMs);
    const { atMs, groups } = await sink.tally();
    const events = groups[group]?.events ?? 0;
    points.push([(atMs - first.atMs) / 1000, ((events - last.events) * 1000) / (atMs - last.atMs)]);
    last = { atMs, events };
  }
  return points;
}

/** Restarts the pipeline under load and measures the rate at which it works off the backlog. */
async function measureRestart(
  stage: Stage,
  path: WholePath,
  { warmPerS, recoveryMsMax }: { readonly warmPerS: number; readonly recoveryMsMax: number },
): Promise<Restart> {
  const ratePerS = warmPerS * restartShare;
  const before = (await path.sink.group(group)).events;
  let startedMs = Number.NaN;
  let begun: () => void = () => undefined;
  const beginning = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const order = { ...orderOf(path), connections: connections * 4, ratePerS };
  const measureMs = 2 * awayMs + recoveryMsMax;
  const loading = runLoad(stage, { ...order, warmUpMs: 0, measureMs }, undefined, () => {
    startedMs = performance.now();
    begun();
  });
  loading.catch(() => undefined);
  await Promise.race([beginning, loading]);
  await sleep(awayMs);
  await path.pipeline.stop();
  await sleep(awayMs);
  const startingMs = performance.now();
  await startPipeline(stage, path.natsUrl, path.databaseUrl);
  const readyMs = performance.now();
  const first = await path.sink.tally();
  const firstEvents = first.groups[group]?.events ?? 0;
  let last = { atMs: first.atMs, events: firstEvents };
  for (;;) {
    await sleep(windowMs / 5);
    const { atMs, groups } = await path.sink.tally();
    last = { atMs, events: groups[group]?.events ?? 0 };
    // All events that were due count as accepted; if one of them was not, the measurement fails below.
    const dueEvents = (Math.min(measureMs, performance.now() - startedMs) / 1000) * ratePerS;
    if (last.events - before >= dueEvents - ratePerS * onItsWayS) break;
    if (performance.now() - readyMs >= recoveryMsMax) break;
  }
  const recoveryS = (last.atMs - first.atMs) / 1000;
  const perS = (last.events - firstEvents) / recoveryS;
  assertAllAccepted('a restart under load', await loading);
  return { perS, share: perS / warmPerS, readyS: (readyMs - startingMs) / 1000, recoveryS };
}
