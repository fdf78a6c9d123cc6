import { do_not_optimize, measure } from 'mitata';
import { microTasks } from './tasks.ts';

/** Nanoseconds per event, one value per sample of mitata. */
export type MicroTold = { readonly name: string; readonly nanos: readonly number[] };

const samplesKept = 200;
const nanosPerS = 1e9;
const [, , secondsEach = '0.6'] = process.argv;
const told: MicroTold[] = [];

for (const task of microTasks()) {
  const { samples } = await measure(() => do_not_optimize(task.run()), {
    min_cpu_time: Number(secondsEach) * nanosPerS,
  });
  told.push({ name: task.name, nanos: thin(samples).map((nanos) => nanos / task.events) });
}
process.send?.(told);

/** Selects evenly spaced samples of the sorted list, which keep its distribution in a file of reasonable size. */
function thin(samples: readonly number[]): number[] {
  const sorted = samples.toSorted((a, b) => a - b);
  if (sorted.length <= samplesKept) return sorted;
  return Array.from({ length: samplesKept }, (_, index) => {
    const at = Math.floor(((index + 0.5) * sorted.length) / samplesKept);
    return sorted[at] ?? 0;
  });
}
