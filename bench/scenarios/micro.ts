import type { MicroTold } from '../micro/micro-main.ts';
import { figureOf, medianOf, plainFigure } from '../result/figure.ts';
import type { ResultRow } from '../result/result.ts';
import type { Scenario } from '../system/scenario.ts';

const tasksAbout = 15;

/** Pieces of the hot paths in isolation, on one thread, without other load. */
export const micro: Scenario = {
  name: 'micro',
  summary: 'time an event takes in the codec, validation, windows, predicates, mappings and bucketing, one thread',
  bars: [],
  async run({ stage, rounds, isQuick, progress }) {
    const secondsEach = isQuick ? 0.1 : 0.6;
    const nanos = new Map<string, (readonly number[])[]>();
    for (let round = 1; round <= rounds; round += 1) {
      progress.step(`round ${round}`, secondsEach * tasksAbout * 1.5);
      const told = await stage.scoped(async (own) => {
        const args = [String(secondsEach)];
        // Makes the garbage collector callable; it runs between tasks, so that no task pays for the garbage of another.
        const nodeArgs = ['--expose-gc'];
        const child = await own.startChild({ name: 'micro', entry: 'bench/micro/micro-main', args, nodeArgs });
        return (await child.nextMessage()) as readonly MicroTold[];
      });
      for (const task of told) nanos.set(task.name, [...(nanos.get(task.name) ?? []), task.nanos]);
    }
    const rows = [...nanos].map(([name, taken]): ResultRow => {
      const at = (share: number): number[] =>
        taken.map((samples) => samples[Math.floor(samples.length * share)] ?? Number.NaN);
      return {
        name,
        figures: {
          'an event': figureOf(
            'ns',
            'less',
            taken.map((readings) => ({ value: medianOf(readings), readings })),
          ),
          p99: plainFigure('ns', 'less', at(0.99)),
          'events/s': plainFigure(
            'per_s',
            'more',
            taken.map((readings) => 1e9 / medianOf(readings)),
          ),
        },
      };
    });
    return { settings: { secondsEach, tool: 'mitata' }, rows, measured: {} };
  },
};
