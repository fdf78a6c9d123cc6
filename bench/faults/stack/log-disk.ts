import { mkdir, statfs } from 'node:fs/promises';
import { runCommand } from '../../../shared/embedded/machine/run-command.ts';
import { storeDirOf, streamsFolder } from './stack-parts.ts';

/** An in-memory file system for the streams of a stack's first node, with a variable size. Needs root. */
export type LogDisk = {
  /** Shrinks the disk until no free space is left. */
  fill(): Promise<void>;
  free(): Promise<void>;
  remove(): Promise<void>;
};

const options = { timeoutMs: 10_000 };
const attemptsMax = 50;

export async function mountLogDisk(folder: string, mib: number): Promise<LogDisk> {
  const path = streamsFolder(storeDirOf(folder, 0));
  await mkdir(path, { recursive: true });
  await runCommand('mount', ['-t', 'tmpfs', '-o', `size=${mib}m,mode=700`, 'sluice-faults', path], options);
  const resize = async (size: string): Promise<void> => {
    await runCommand('mount', ['-o', `remount,size=${size}`, path], options);
  };
  return {
    async fill() {
      for (let attempt = 1; ; attempt += 1) {
        const { blocks, bfree, bsize } = await statfs(path);
        try {
          await resize(`${((blocks - bfree) * bsize) / 1024}k`);
          return;
        } catch (error) {
          // Since the free space was read, nats-server has written more than the new size permits.
          if (attempt === attemptsMax) throw error;
        }
      }
    },
    free: () => resize(`${mib}m`),
    async remove() {
      await runCommand('umount', [path], options);
    },
  };
}
