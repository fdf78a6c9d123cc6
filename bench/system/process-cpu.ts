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
