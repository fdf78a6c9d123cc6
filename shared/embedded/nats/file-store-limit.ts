import { statfs } from 'node:fs/promises';

const mebibyte = 1024 ** 2;
const diskShare = 3 / 4;

/**
 * How many bytes the nats-server on a folder may store, `max_file_store`: three quarters of its disk, and as much as its
 * streams may take (`atLeastBytes`) where the disk is as large as that. It goes by the size of the disk and not by what is
 * free, so that every start gives the same, a start on a full disk too; what a server chooses by itself is then too small
 * for the streams it has, and stays so when there is room again.
 */
export async function chooseFileStoreBytes(folder: string, atLeastBytes = 0): Promise<number> {
  const { blocks, bsize } = await statfs(folder);
  return fileStoreBytes(blocks * bsize, atLeastBytes);
}

/** In whole mebibytes, as people would write it: the doctor takes other numbers for the server's own choice. */
export function fileStoreBytes(diskBytes: number, atLeastBytes: number): number {
  const bytes = Math.max(diskBytes * diskShare, Math.min(atLeastBytes, diskBytes));
  return Math.max(1, Math.floor(bytes / mebibyte)) * mebibyte;
}
