import { readFileSync, readlinkSync } from 'node:fs';

/** The number the operating system gives the thread that asks; undefined where it does not tell, as anywhere but on Linux. */
export function ownTaskId(): number | undefined {
  try {
    // `<process>/task/<thread>`: a link that is another one to every thread.
    const id = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    return Number.isInteger(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

const nanosecondsPerMs = 1e6;

/**
 * For how long in its life a thread of this process could have run and was given no processor, in ms; 0 where nobody tells.
 * The second number of https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat
 */
export function cpuWaitMs(taskId: number | undefined): number {
  if (taskId === undefined) return 0;
  try {
    const [, waited] = readFileSync(`/proc/self/task/${taskId}/schedstat`, 'utf8').split(' ');
    return Number(waited) / nanosecondsPerMs || 0;
  } catch {
    return 0;
  }
}
