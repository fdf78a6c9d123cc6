import { mkdir, open, readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { runCommand } from '../../../shared/embedded/machine/run-command.ts';
import { sleep } from '../../machine/wait-until.ts';
import { storeDirOf, streamsFolder } from './stack-parts.ts';

/**
 * A separate disk for the streams of a stack's first node: an ext4 file system in a file, mounted through a loop
 * device. Unsynced writes are only in the page cache of that file system, so they can be discarded as in a power cut.
 * Needs root.
 */
export type BlockDisk = {
  /** Discards all unsynced writes, and refuses all further ones. */
  cutPower(): Promise<void>;
  /** Makes the file system report an internal error, after which it refuses all writes. */
  makeReadOnly(): Promise<void>;
  /** Unmounts the disk and mounts it again, as at a reboot; synced data is kept. No process may be using the disk. */
  startAgain(): Promise<void>;
  remove(): Promise<void>;
};

const command = { timeoutMs: 20_000 };
const attemptsMax = 100;
const againMs = 100;
const bytesPerMib = 1024 ** 2;
/** `EXT4_IOC_SHUTDOWN` with `EXT4_GOING_FLAGS_NOLOGFLUSH`, the kernel's interface for testing power cuts. */
const shutdown = 'open(my $f, "<", $ARGV[0]) or die $!; my $how = pack("L", 2); ioctl($f, 0x8004587d, $how) or die $!';

export async function mountBlockDisk(folder: string, mib: number): Promise<BlockDisk> {
  const image = join(folder, 'log-disk.img');
  const path = join(folder, 'log-disk');
  const streams = streamsFolder(storeDirOf(folder, 0));
  await mkdir(path);
  await mkdir(dirname(streams), { recursive: true });
  // A link to a folder within the mount, because nats-server would use lost+found as if it were one of its own folders.
  await symlink(join(path, 'jetstream'), streams);
  const file = await open(image, 'w');
  await file.truncate(mib * bytesPerMib);
  await file.close();
  await runCommand('mkfs.ext4', ['-q', '-F', image], command);
  const mount = () => runCommand('mount', ['-o', 'loop,errors=remount-ro', image, path], command);
  const unmount = async (): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await runCommand('umount', [path], command);
        return;
      } catch (error) {
        // A process that reads the free space keeps the mount busy briefly.
        if (attempt === attemptsMax) throw error;
        await sleep(againMs);
      }
    }
  };
  await mount();
  await mkdir(join(path, 'jetstream'), { mode: 0o700 });
  return {
    async cutPower() {
      await runCommand('perl', ['-e', shutdown, path], command);
    },
    async makeReadOnly() {
      await writeFile(`/sys/fs/ext4/${await deviceAt(path)}/trigger_fs_error`, '1');
    },
    async startAgain() {
      await unmount();
      // Exit code 1: e2fsck found errors and fixed them.
      await runCommand('sh', ['-c', 'e2fsck -p "$1" || [ $? -le 1 ]', 'sh', image], command);
      await mount();
    },
    remove: unmount,
  };
}

/** Name of the device that is mounted at a path, such as `loop0`. */
async function deviceAt(path: string): Promise<string> {
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  const line = mounts.split('\n').find((each) => each.split(' ')[1] === path);
  if (line === undefined) throw new Error(`nothing is mounted at ${path}`);
  return basename(line.split(' ')[0] ?? '');
}
