import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** An account to run a server as. */
export type Account = {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
};

/** The fields of a file's status on which access depends. */
export type FileMode = {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
};

export const readBit = 0o4;
export const executeBit = 0o1;

/**
 * The first folder on the way to `path` that the account may not enter, or `path` if it lacks the permission there;
 * undefined if there is no obstacle. A folder that does not exist yet is no obstacle: it will be created with a
 * suitable mode.
 */
export async function findObstacle(path: string, account: Account, permission: number): Promise<string | undefined> {
  for (const folder of ancestorsOf(path)) {
    const found = await statIfThere(folder);
    if (found === undefined) {
      return undefined;
    }
    if (!grants(found, account, folder === path ? permission : executeBit)) {
      return folder;
    }
  }
  return undefined;
}

/**
 * Whether the permission bits grant the account the permissions in `wanted`. Only the first class that matches (owner,
 * group, others) counts.
 */
export function grants(file: FileMode, account: Pick<Account, 'uid' | 'gid'>, wanted: number): boolean {
  const shift = file.uid === account.uid ? 6 : file.gid === account.gid ? 3 : 0;
  return ((file.mode >> shift) & wanted) === wanted;
}

/** The folders on the way to a path, and the path: `/`, `/a` and `/a/b` for `/a/b`. */
function ancestorsOf(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [...ancestorsOf(parent), path];
}

async function statIfThere(path: string): Promise<FileMode | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
}
