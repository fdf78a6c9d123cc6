import { readFile } from 'node:fs/promises';

/** Resident memory of a process, in bytes; 0 where the system does not say. */
export async function processMemoryBytes(pid: number): Promise<number> {
  try {
    const match = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'));
    return Number(match?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
