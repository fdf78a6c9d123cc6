import { readFile } from 'node:fs/promises';

/** Resident memory of a process, in bytes; 0 where the system does not say. */
export async function processMemoryBytes(pid: number): Promise<number> {
  return (await statusBytes(pid, 'VmRSS')) ?? 0;
}

/** The most a process has had resident so far, in bytes; 0 where the system does not say. */
export async function peakMemoryBytes(pid: number): Promise<number> {
  return (await statusBytes(pid, 'VmHWM')) ?? 0;
}

async function statusBytes(pid: number, field: string): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text);
  return match === null ? undefined : Number(match[1]) * 1024;
}
