import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';

/** A file system of a few megabytes in memory, which can really fill up. */
export type SmallDisk = {
  /** Path of the file system's top folder, for processes of the same user. */
  readonly folder: string;
  /** Fills all free space, including space freed since an earlier call. */
  fill(): Promise<void>;
  /** Frees the space that `fill` took. */
  makeRoom(): Promise<void>;
  close(): Promise<void>;
};

const mebibyte = 1024 ** 2;
const up = 'mounted';

/**
 * Mounts a small disk in a user namespace of its own, which needs no root on Linux. Other processes reach its folder
 * through the process that holds the namespace. Rejects if the system does not allow this, as in most containers.
 */
export async function mountSmallDisk(mebibytes: number): Promise<SmallDisk> {
  const mount = `mount -t tmpfs -o size=${mebibytes}m,mode=0711 none /mnt && echo ${up} && exec sleep infinity`;
  const holder = spawn('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', mount]);
  let said = '';
  const mounted = new Promise<void>((resolve, reject) => {
    const hear = (text: Buffer): void => {
      said += text.toString();
      if (said.includes(up)) resolve();
    };
    holder.stdout.on('data', hear);
    holder.stderr.on('data', hear);
    holder.once('error', reject);
    holder.once('close', () => reject(new Error(`no small disk can be mounted here: ${said.trim()}`)));
  });
  await mounted;
  const folder = `/proc/${holder.pid}/root/mnt`;
  const filler = await open(join(folder, 'filler'), 'w');
  return {
    folder,
    fill: () => fill(filler),
    makeRoom: () => filler.truncate(0),
    async close() {
      await filler.close();
      holder.removeAllListeners('close');
      const closed = once(holder, 'close');
      holder.kill('SIGKILL');
      await closed;
    },
  };
}

async function fill(filler: FileHandle): Promise<void> {
  for (const bytes of [mebibyte, 4_096, 1]) {
    const piece = Buffer.alloc(bytes, 1);
    // Appends at the file's present end, because a truncation does not reset the handle's own position.
    for (let at = (await filler.stat()).size; await writeAt(filler, piece, at); at += bytes);
  }
}

async function writeAt(filler: FileHandle, piece: Buffer, at: number): Promise<boolean> {
  try {
    return (await filler.write(piece, 0, piece.length, at)).bytesWritten === piece.length;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return false;
    throw error;
  }
}
