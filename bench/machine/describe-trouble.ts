import type { Machine } from './machine.ts';
import { describeOtherWork } from './other-work.ts';
import { describeStolenTime } from './stolen-time.ts';

/** The machine of the kept results takes 0.2 to 0.3 ms; above this the disk dominates the measurement. */
const syncMsMax = 2;
/** The machine of the kept results takes 38 to 45 ms. */
const loopMsMax = 80;
/** An unshared core takes the same time in each run. */
const loopUnevenMax = 1.25;
/** Runnable processes for each core, in the minute before. */
const loadPerCoreMax = 0.5;

/**
 * Why results from this machine are unreliable: it or its host was busy with other work, or its disk or cores are
 * slow. Undefined if no problem was found, or where a result has no such data.
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
