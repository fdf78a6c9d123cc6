import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, mkdtemp, realpath, rmdir, symlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

import { EmbeddedServerError } from '../machine/embedded-server-error.ts';
import { isThere } from '../machine/is-there.ts';
import { type Account, executeBit, findObstacle } from './reachability.ts';

// These folders keep their files at a reboot, unlike the temporary folder.
const fallbackParents = ['/var/lib', '/var/tmp'];

/**
 * Creates or finds the folder of PostgreSQL's data, and returns its real path. That is `dataDir`, unless the account
 * cannot enter it (root's home, mode 0700): then `dataDir` becomes a link to a folder under /var/lib or /var/tmp.
 * Removing the link gives a fresh start, as removing the folder does elsewhere.
 */
export async function preparePostgresHome(
  dataDir: string,
  account: Account | undefined,
  onProgress: (line: string) => void,
): Promise<string> {
  const wanted = resolve(dataDir);
  try {
    await mkdir(dirname(wanted), { recursive: true });
    if (await isLink(wanted)) {
      return await followLink(wanted);
    }
    await mkdir(wanted, { recursive: true });
    if (account === undefined) {
      return await realpath(wanted);
    }
    const home = await realpath(wanted);
    // The account only needs to pass through this folder to the cluster in it.
    await chmod(home, 0o711);
    const obstacle = await findObstacle(home, account, executeBit);
    return obstacle === undefined ? home : await placeElsewhere(wanted, obstacle, account, onProgress);
  } catch (error) {
    throw error instanceof EmbeddedServerError
      ? error
      : new EmbeddedServerError('folder_unusable', `cannot use ${wanted} as PostgreSQL's folder`, error);
  }
}

async function placeElsewhere(
  wanted: string,
  obstacle: string,
  account: Account,
  onProgress: (line: string) => void,
): Promise<string> {
  // Fails if the folder contains data, which a link would hide.
  await rmdir(wanted);
  const hash = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  for (const parent of fallbackParents) {
    if ((await isThere(parent)) && (await findObstacle(parent, account, executeBit)) === undefined) {
      const home = await mkdtemp(join(parent, `sluice-${hash}-`));
      await chmod(home, 0o711);
      await symlink(home, wanted);
      onProgress(`PostgreSQL's data are in ${home}: its account ${account.name} may not enter ${obstacle}`);
      return home;
    }
  }
  throw new EmbeddedServerError(
    'folder_unusable',
    `the account ${account.name} may not enter ${obstacle}, nor any of ${fallbackParents.join(', ')}; choose another folder for the data`,
  );
}

async function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}

async function followLink(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    throw new EmbeddedServerError(
      'folder_unusable',
      `${path} is a link to a folder that is gone; remove the link to start with empty data`,
      error,
    );
  }
}
