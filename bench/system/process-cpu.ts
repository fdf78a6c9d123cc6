import { readFile } from 'node:fs/promises';

/** Clock ticks a second of `/proc/<pid>/stat`; 100 on every Linux that Node runs on. */
const ticksPerS = 100;

/** CPU time a process has used so far, all threads together, in ms; NaN where the system does not say. */
export async function processCpuMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The name, in parentheses, may hold spaces; what follows it does not.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / ticksPerS;
}

/** The same with the processes it started and has not outlived, such as PostgreSQL's sessions. */
export async function processFamilyCpuMs(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const spent = await Promise.all(children.split(' ').filter(Boolean).map(Number).map(processCpuMs));
  // A child that has just ended has no figures any more.
  return spent.filter(Number.isFinite).reduce((sum, ms) => sum + ms, await processCpuMs(pid));
}
