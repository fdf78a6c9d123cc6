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

/** What a thread has used of the processors, and for how long it could run and was given none, in its life, in ms. */
export type CpuUse = { readonly ranMs: number; readonly waitedMs: number };

const nothing: CpuUse = { ranMs: 0, waitedMs: 0 };

/**
 * What a thread of this process has used and waited for; nothing where nobody tells. The first two numbers of
 * https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat
 */
export function cpuUseOf(taskId: number | undefined): CpuUse {
  if (taskId === undefined) return nothing;
  try {
    const [ran, waited] = readFileSync(`/proc/self/task/${taskId}/schedstat`, 'utf8').split(' ');
    return { ranMs: Number(ran) / nanosecondsPerMs || 0, waitedMs: Number(waited) / nanosecondsPerMs || 0 };
  } catch {
    return nothing;
  }
}
