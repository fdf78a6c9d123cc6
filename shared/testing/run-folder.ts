import { chmod, mkdtemp, readdir, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { claimFolder, isFolderClaimed } from '../embedded/machine/folder-claim.ts';
import { endLeftNatsServer } from '../embedded/nats/nats-server.ts';
import { endLeftPostgresServer } from '../embedded/postgres/postgres-server.ts';

/** The temporary folder of one test run, with the data of all its servers. */
export type RunFolder = {
  readonly path: string;
  /** Ends servers that tests left running on the folder, and removes the folder. */
  remove(): Promise<void>;
};

export const natsFolderPrefix = 'nats-';
export const postgresFolder = 'postgres';

const runPrefix = 'sluice-test-';
const unclaimedAgeMs = 60 * 60 * 1000;

export async function createRunFolder(): Promise<RunFolder> {
  const path = await mkdtemp(join(tmpdir(), runPrefix));
  // If root runs the tests, PostgreSQL's own account has to reach its data through this folder.
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
      // A folder that cannot be removed, such as another account's, must not keep the tests from running.
      await removeRunFolder(path).catch(() => undefined);
    }
  }
}

async function isLeft(path: string): Promise<boolean> {
  const isClaimed = await isFolderClaimed(path);
  if (isClaimed !== undefined) {
    return !isClaimed;
  }
  // A new folder may be unclaimed because its run is about to claim it.
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
      // The folder may be a link to data elsewhere.
      await rm(await realpath(folder), { recursive: true, force: true });
    }
  }
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}
