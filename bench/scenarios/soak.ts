import { destinationIdOf } from '../config/ids.ts';
import { trackBody } from '../load/bodies.ts';
import { assertAllAccepted } from '../load/load-result.ts';
import { figureOf, meanOf, plainFigure } from '../result/figure.ts';
import type { Series } from '../result/result.ts';
import type { Scenario } from '../system/scenario.ts';
import { runPaced } from '../sustained/paced-run.ts';
import { processMemoryBytes } from '../machine/process-use.ts';
import { memoryProbe, startSampler } from '../system/sampler.ts';
import { startWholePath } from '../whole-path/whole-path.ts';

const group = 'in';
const connections = 128;
/** Load as a fraction of the rate that is delivered under full load. */
const loadShare = 0.5;

/** Minutes at half of the maximum rate, in which memory, backlog and latency must not grow. */
export const soak: Scenario = {
  name: 'soak',
  isLong: true,
  summary: 'the whole path at half of its maximum rate, for --minutes: memory, backlog and latency must not grow',
  bars: [
    { id: 'memory', text: 'memory of the last third against the second', limit: 1.1, unit: 'ratio', ask: 'at-most' },
    {
      id: 'kept-up',
      text: 'delivered part of the accepted events, during the run',
      limit: 0.99,
      unit: 'ratio',
      ask: 'at-least',
    },
  ],
  run({ stage, minutes, seconds, warmUpSeconds, progress }) {
    return stage.scoped(async (own) => {
      const path = await startWholePath(own, {
        destinations: (sink) => [{ id: destinationIdOf(0), url: sink.urlOf(`${group}/1`) }],
      });
      const { sink, gateway, pipeline, token } = path;
      const paced = (label: string, measureMs: number, ratePerS?: number) => {
        progress.step(label, measureMs / 1000 + warmUpSeconds);
        const order = {
          url: `${gateway.url}/api/v1/track`,
          bodies: [trackBody(token)],
          connections: ratePerS === undefined ? 32 : connections,
          ...(ratePerS === undefined ? {} : { ratePerS }),
        };
        const onWindow = (perS: number): void => progress.note(`${Math.round(perS)} delivered/s`);
        const times = { warmUpMs: warmUpSeconds * 1000, measureMs };
        return runPaced({ stage: own, sink, group, order, ...times, eventsPerRequest: 1, pipeline, onWindow });
      };
      await paced('warming up', seconds * 1000);
      const guess = await paced('finding the rate', seconds * 1000);
      const ratePerS = guess.deliveredPerS * loadShare;
      const sampler = startSampler([
        memoryProbe('gateway', gateway.pid),
        memoryProbe('pipeline', pipeline.pid),
        memoryProbe('sink', sink.pid),
      ]);
      const run = await paced(`${Math.round(ratePerS)}/s for ${minutes} minutes`, minutes * 60_000, ratePerS);
      const memory = await sampler.stop();
      assertAllAccepted('soak', run.load);
      const growth = memoryGrowth(memory.slice(0, 2));
      const keptUp = run.deliveredShare;
      return {
        settings: { minutes, ratePerS, loadShare, connections, syncInterval: 'always' },
        rows: [
          {
            name: 'whole path, single events',
            figures: {
              'events/s': figureOf('per_s', 'more', [{ value: run.deliveredPerS, readings: run.readings }]),
              'kept up': plainFigure('ratio', 'more', [keptUp]),
              p50: plainFigure('ms', 'less', [run.arrived.overallMs.p50]),
              p99: plainFigure('ms', 'less', [run.arrived.overallMs.p99]),
              max: plainFigure('ms', 'less', [run.arrived.overallMs.max]),
              gateway: plainFigure('bytes', 'less', [await processMemoryBytes(gateway.pid)]),
              pipeline: plainFigure('bytes', 'less', [await processMemoryBytes(pipeline.pid)]),
              growth: plainFigure('ratio', 'less', [growth]),
            },
            series: [...run.series, ...memory],
          },
        ],
        measured: { memory: growth, 'kept-up': keptUp },
      };
    });
  },
};

/** Memory of all processes in the last third, relative to the second third; in the first third, caches still fill. */
function memoryGrowth(series: readonly Series[]): number {
  const ends = series.map(({ points }) => points.at(-1)?.[0] ?? 0);
  const endS = Math.max(...ends);
  const mean = (from: number, to: number): number =>
    series
      .map(({ points }) =>
        meanOf(points.filter(([atS]) => atS >= endS * from && atS < endS * to).map(([, bytes]) => bytes)),
      )
      .reduce((sum, bytes) => sum + bytes, 0);
  return mean(2 / 3, 1) / mean(1 / 3, 2 / 3);
}
