import { readFileSync, readlinkSync } from 'node:fs';

/** The operating system's id of the calling thread; undefined except on Linux. */
export function ownTaskId(): number | undefined {
  try {
    // `<process>/task/<thread>`: the link differs for every thread.
    const id = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    return Number.isInteger(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

const nanosecondsPerMs = 1e6;

/** Processor time of a thread since its start, and time in which it was ready but had no processor, in ms. */
export type CpuUse = { readonly ranMs: number; readonly waitedMs: number };

const nothing: CpuUse = { ranMs: 0, waitedMs: 0 };

/**
 * Processor use and waits of a thread of this process; zeros if the system does not report them. The first two numbers
 * of https://docs.kernel.org/scheduler/sched-stats.html#proc-pid-schedstat
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
