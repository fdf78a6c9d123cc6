import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';

/** Cores and memory that a process may use: the machine's, or its container's or unit's limits if these are lower. */
export type Machine = {
  /** A fraction if a quota applies. */
  readonly cores: number;
  readonly memoryBytes: number;
};

export function readMachine(): Machine {
  const constrained = process.constrainedMemory();
  const quota = cpuQuota(readText('/proc/self/cgroup'), (folder) => readText(`/sys/fs/cgroup${folder}/cpu.max`));
  return {
    cores: Math.min(availableParallelism(), quota),
    // Some versions of Node report unlimited as 0, others as more than the machine has.
    memoryBytes: constrained > 0 ? Math.min(constrained, totalmem()) : totalmem(),
  };
}

/**
 * The cores that control groups let a process use; infinite without a quota. Node 20 ignores these quotas. `cgroup` is
 * the text of `/proc/self/cgroup`; `cpuMaxOf` reads a group's `cpu.max`:
 * https://docs.kernel.org/admin-guide/cgroup-v2.html
 */
export function cpuQuota(cgroup: string, cpuMaxOf: (folder: string) => string): number {
  const own = /^0::(\/\S*)$/m.exec(cgroup)?.[1] ?? '/';
  const parts = own.split('/').filter((part) => part !== '');
  let cores = Number.POSITIVE_INFINITY;
  // A group has no more cores than the groups that contain it.
  for (let depth = parts.length; depth >= 0; depth -= 1) {
    const folder = parts
      .slice(0, depth)
      .map((part) => `/${part}`)
      .join('');
    const [, quota = '', period = ''] = /^(\d+) (\d+)$/m.exec(cpuMaxOf(folder)) ?? [];
    if (quota !== '' && Number(period) > 0) cores = Math.min(cores, Number(quota) / Number(period));
  }
  return cores;
}

/** The text of a file; empty if it is missing, as on systems other than Linux and for groups without a limit. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
