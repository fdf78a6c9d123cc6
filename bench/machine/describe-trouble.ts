import type { Machine } from './machine.ts';
import { describeOtherWork } from './other-work.ts';
import { describeStolenTime } from './stolen-time.ts';

/** On the machine of the kept results a sync takes 0.2 to 0.3 ms; above 2 ms the disk dominates a measurement. */
const syncMsMax = 2;
/** On the machine of the kept results the loop takes 38 to 45 ms. */
const loopMsMax = 80;
/** Maximum ratio of median to minimum. If nothing else uses the core, the loop takes the same time in each run. */
const loopUnevenMax = 1.25;
/** Maximum number of runnable processes per core during the minute before the run. */
const loadPerCoreMax = 0.5;

/**
 * Why results from this machine are unreliable: the machine or its host was busy with other work, or the disk or the
 * cores are slow. Undefined if no problem was found, or if a result has no such data.
 */
export function describeTrouble({
  cores,
  disk,
  otherWork,
  cpuLoopMs,
  loadAverage,
  stolen,
}: Pick<Machine, 'cores' | 'disk' | 'otherWork' | 'cpuLoopMs' | 'loadAverage' | 'stolen'>): string | undefined {
  const found = [
    describeOtherWork(otherWork),
    loadAverage !== undefined && loadAverage > cores * loadPerCoreMax
      ? `load average ${loadAverage.toFixed(1)} on ${cores} cores in the minute before`
      : undefined,
    cpuLoopMs !== undefined && cpuLoopMs.median > cpuLoopMs.best * loopUnevenMax
      ? `a fixed loop took ${cpuLoopMs.median.toFixed(0)} ms and ${cpuLoopMs.best.toFixed(0)} ms at best: its cores are shared`
      : undefined,
    cpuLoopMs !== undefined && cpuLoopMs.best > loopMsMax
      ? `a fixed loop took ${cpuLoopMs.best.toFixed(0)} ms at best, more than ${loopMsMax}: its cores are slow`
      : undefined,
    describeStolenTime(stolen),
    disk.p50 > syncMsMax ? `a sync of the disk took ${disk.p50.toFixed(1)} ms, more than ${syncMsMax}` : undefined,
  ].filter((reason) => reason !== undefined);
  return found.length === 0 ? undefined : found.join('; ');
}
