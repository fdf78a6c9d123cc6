import { type FileHandle, open, rename, stat } from 'node:fs/promises';

const keptBytesMax = 8 * 1024 * 1024;
const tailBytes = 4 * 1024;

/** Opens a server's log for appending. A log that has grown large is kept once as `<name>.1`. */
export async function openLogFile(path: string): Promise<FileHandle> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  );
  if (size > keptBytesMax) {
    await rename(path, `${path}.1`);
  }
  return open(path, 'a', 0o600);
}

/** The last lines written since `fromByte`, for error messages; empty if there are none. */
export async function readLogTail(path: string, fromByte: number): Promise<string> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { size } = await file.stat();
    const start = Math.max(fromByte, size - tailBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(tailBytes), 0, tailBytes, start);
    return buffer.toString('utf8', 0, bytesRead).trim().split('\n').slice(-15).join('\n');
  } catch {
    return '';
  } finally {
    await file?.close();
  }
}
