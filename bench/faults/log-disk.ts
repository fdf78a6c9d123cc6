import { mkdir } from 'node:fs/promises';
import { runCommand } from '../../shared/embedded/run-command.ts';
import { storeDirOf } from './stack-parts.ts';

const options = { timeoutMs: 10_000 };

/** Gives the first node of the log a file system of its own, in memory, that can be filled. Takes root. */
export async function mountLogDisk(folder: string, mib: number): Promise<() => Promise<void>> {
  const path = storeDirOf(folder, 0);
  await mkdir(path, { recursive: true });
  await runCommand('mount', ['-t', 'tmpfs', '-o', `size=${mib}m,mode=700`, 'sluice-faults', path], options);
  return async () => void (await runCommand('umount', [path], options));
}
