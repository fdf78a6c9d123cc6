import { readFile, readdir, writeFile } from 'node:fs/promises';

/**
 * CPU time that all threads of a process have used so far, in ms; NaN if the system does not report it. It is read from
 * the scheduler's counters, because `/proc/<pid>/stat` samples at clock ticks, and charges whole ticks to work that a
 * timer starts at a tick.
 */
export async function processCpuMs(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const spent = await Promise.all(threads.map((thread) => threadCpuMs(pid, thread)));
  return spent.length === 0 ? Number.NaN : spent.reduce((sum, ms) => sum + ms, 0);
}

/** CPU time of a thread in ms; 0 if the thread has ended in the meantime. */
async function threadCpuMs(pid: number, thread: string): Promise<number> {
  const [onCpuNs = ''] = await readSchedule(pid, thread);
  return Number(onCpuNs) / 1e6;
}

/** How long the threads of a process and of its running children have waited for a core so far, in ms. */
export async function familyWaitMs(pid: number): Promise<number> {
  let waitedMs = 0;
  for (const member of [pid, ...(await childrenOf(pid))]) {
    for (const thread of await readdir(`/proc/${member}/task`).catch(() => [])) {
      const [, waitedNs = ''] = await readSchedule(member, thread);
      waitedMs += Number(waitedNs) / 1e6;
    }
  }
  return waitedMs;
}

/** Counters of a thread: nanoseconds on a core, nanoseconds waiting for a core, number of time slices. */
async function readSchedule(pid: number, thread: string): Promise<readonly string[]> {
  return (await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '')).split(' ');
}

/**
 * CPU time so far of a process and of its children, in ms. Includes ended children and running ones, such as
 * PostgreSQL's sessions.
 */
export async function processFamilyCpuMs(pid: number): Promise<number> {
  const [own, ended, ...spent] = await Promise.all([
    processCpuMs(pid),
    endedChildrenCpuMs(pid),
    ...(await childrenOf(pid)).map(processCpuMs),
  ]);
  // A child that has just ended has no counters.
  return spent.filter(Number.isFinite).reduce((sum, ms) => sum + ms, own + ended);
}

/** CPU time of ended children in ms: cutime and cstime of proc(5), in clock ticks, which are 10 ms for every reader. */
async function endedChildrenCpuMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The process name is in parentheses and may contain any character, so fields count from the last parenthesis.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user = Number.NaN, system = Number.NaN] = fields.slice(13, 15).map(Number);
  const ticks = user + system;
  return Number.isFinite(ticks) ? ticks * 10 : 0;
}

/** Ids of the running processes that the main thread of a process has started. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  return children.split(' ').filter(Boolean).map(Number);
}

/**
 * Memory of a process and its children, in bytes, with shared pages in proportion (PSS), because database sessions
 * share most of their memory. Resident memory if the system does not report PSS.
 */
export async function familyMemoryBytes(pid: number): Promise<number> {
  const sizes = await Promise.all([pid, ...(await childrenOf(pid))].map(proportionalBytes));
  return sizes.reduce((sum, bytes) => sum + bytes, 0);
}

async function proportionalBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  const match = /^Pss:\s+(\d+) kB/m.exec(text);
  return match === null ? processMemoryBytes(pid) : Number(match[1]) * 1024;
}

/** Resident memory of a process, in bytes; 0 if the system does not report it. */
export async function processMemoryBytes(pid: number): Promise<number> {
  return (await statusBytes(pid, 'VmRSS')) ?? 0;
}

/** Peak resident memory of a process so far, in bytes; 0 if the system does not report it. */
export async function peakMemoryBytes(pid: number): Promise<number> {
  return (await statusBytes(pid, 'VmHWM')) ?? 0;
}

/** Resets the peak that `peakMemoryBytes` returns for a process, if the system supports it (proc(5), clear_refs). */
export async function forgetPeakMemory(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5').catch(() => undefined);
}

async function statusBytes(pid: number, field: string): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text);
  return match === null ? undefined : Number(match[1]) * 1024;
}

/** CPU time per event in ns, by process, from two readings in ms. */
export function cpuNsAnEvent(
  before: Readonly<Record<string, number>>,
  after: Readonly<Record<string, number>>,
  events: number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(after).map(([process, ms]) => [process, ((ms - (before[process] ?? 0)) * 1e6) / events]),
  );
}
