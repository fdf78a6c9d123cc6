import { chmod, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { claimFolder, isFolderClaimed } from '../embedded/machine/folder-claim.ts';
import { endLeftNatsServer } from '../embedded/nats/nats-server.ts';
import { endLeftPostgresServer } from '../embedded/postgres/postgres-server.ts';

/** The temporary folder of one test run. All servers of the run live in it. */
export type RunFolder = {
  readonly path: string;
  /** Ends what tests left running in it, and removes it. */
  remove(): Promise<void>;
};

export const natsFolderPrefix = 'nats-';
export const postgresFolder = 'postgres';

const runPrefix = 'sluice-test-';
const unclaimedAgeMs = 60 * 60 * 1000;

export async function createRunFolder(): Promise<RunFolder> {
  const path = await mkdtemp(join(tmpdir(), runPrefix));
  // PostgreSQL's account passes through when root runs the tests.
  await chmod(path, 0o711);
  const claim = await claimFolder(path);
  return {
    path,
    remove: async () => {
      await removeRunFolder(path);
      await claim.release();
    },
  };
}

/** Ends the servers and removes the folders of runs that were killed. Servers and folders of running runs stay. */
export async function removeLeftRunFolders(): Promise<void> {
  const names = await readdir(tmpdir());
  for (const name of names.filter((found) => found.startsWith(runPrefix))) {
    const path = join(tmpdir(), name);
    if (await isLeft(path)) {
      // Another account's, for example, cannot be removed, and is no reason to run no tests.
      await removeRunFolder(path).catch(() => undefined);
    }
  }
}

async function isLeft(path: string): Promise<boolean> {
  const isClaimed = await isFolderClaimed(path);
  if (isClaimed !== undefined) {
    return !isClaimed;
  }
  // Perhaps made this moment and about to be claimed.
  const made = await stat(path).catch(() => undefined);
  return made !== undefined && Date.now() - made.mtimeMs > unclaimedAgeMs;
}

async function removeRunFolder(path: string): Promise<void> {
  for (const name of await readdir(path)) {
    const folder = join(path, name);
    if (name.startsWith(natsFolderPrefix)) {
      await endLeftNatsServer(folder);
    } else if (name.startsWith(postgresFolder)) {
      await endLeftPostgresServer(folder);
      // The data may lie elsewhere, with a link here.
      await rm(await realpath(folder), { recursive: true, force: true });
    }
  }
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}
