import { mkdir, statfs } from 'node:fs/promises';
import { runCommand } from '../../../shared/embedded/machine/run-command.ts';
import { streamsFolder } from './stack-parts.ts';

const options = { timeoutMs: 10_000 };
const attemptsMax = 50;

/** Gives streams of a node a file system of their own, in memory, whose size can be changed. Takes root. */
export async function mountLogDisk(storeDir: string, mib: number): Promise<() => Promise<void>> {
  const path = streamsFolder(storeDir);
  await mkdir(path, { recursive: true });
  await runCommand('mount', ['-t', 'tmpfs', '-o', `size=${mib}m,mode=700`, 'sluice-faults', path], options);
  return async () => void (await runCommand('umount', [path], options));
}

/** Takes all the room there is: nothing more can be written. */
export async function fillLogDisk(storeDir: string): Promise<void> {
  const path = streamsFolder(storeDir);
  for (let attempt = 1; ; attempt += 1) {
    const { blocks, bfree, bsize } = await statfs(path);
    try {
      await resize(path, `${((blocks - bfree) * bsize) / 1024}k`);
      return;
    } catch (error) {
      // More was written meanwhile than it was to hold.
      if (attempt === attemptsMax) throw error;
    }
  }
}

export function freeLogDisk(storeDir: string, mib: number): Promise<void> {
  return resize(streamsFolder(storeDir), `${mib}m`);
}

async function resize(path: string, size: string): Promise<void> {
  await runCommand('mount', ['-o', `remount,size=${size}`, path], options);
}
