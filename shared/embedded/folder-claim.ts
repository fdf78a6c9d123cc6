import { randomBytes } from 'node:crypto';
import { readlink, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';

import { EmbeddedServerError } from './embedded-server-error.ts';
import { readProcessFacts } from './process-facts.ts';

/** The right to run a server on a folder, held by this process until released. */
export interface FolderClaim {
  /** Whether a process that ended without releasing it held it before; a server still on the folder is then its orphan. */
  readonly isTakenOver: boolean;
  release(): Promise<void>;
}

const CLAIM_FILE = 'owner';
const ATTEMPTS_MAX = 5;

/**
 * Claims a folder for this process. A claim left by a process that has ended (kill -9, power cut) is taken over;
 * one of a living process is an error, so two stacks never run on the same data.
 */
export async function claimFolder(folder: string): Promise<FolderClaim> {
  const file = join(folder, CLAIM_FILE);
  const mine = await describeThisProcess();
  let isTakenOver = false;
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    if (await createLink(mine, file)) {
      return { isTakenOver, release: () => removeQuietly(file) };
    }
    const owner = await readlink(file).catch(() => undefined);
    if (owner === undefined) {
      continue;
    }
    const livingPid = await livingOwner(owner);
    if (livingPid !== undefined) {
      throw inUse(folder, livingPid);
    }
    await discardStaleClaim(file, owner);
    isTakenOver = true;
  }
  throw new EmbeddedServerError('folder_in_use', `could not claim ${folder}: other processes keep claiming it`);
}

/** Whether a living process holds a claim on the folder; undefined if the folder has no claim at all. */
export async function isFolderClaimed(folder: string): Promise<boolean | undefined> {
  const owner = await readlink(join(folder, CLAIM_FILE)).catch(() => undefined);
  return owner === undefined ? undefined : (await livingOwner(owner)) !== undefined;
}

/** Releases the claim once `ending` has settled, and passes on what that gave. */
export async function releaseAfter<T>(ending: Promise<T>, claim: FolderClaim): Promise<T> {
  const result = await ending;
  await claim.release();
  return result;
}

// The claim is a symbolic link whose target is text, not a path: making one is atomic and carries its content along,
// so nobody ever reads a half-written claim.
async function createLink(text: string, file: string): Promise<boolean> {
  try {
    await symlink(text, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      return false;
    }
    throw new EmbeddedServerError('folder_unusable', `cannot write to ${file}`, error);
  }
}

async function describeThisProcess(): Promise<string> {
  const facts = await readProcessFacts(process.pid);
  return `${process.pid}@${facts?.startedAt ?? 'unknown'}`;
}

async function livingOwner(owner: string): Promise<number | undefined> {
  const pid = Number(owner.split('@')[0]);
  const facts = await readProcessFacts(pid);
  return facts !== undefined && owner === `${pid}@${facts.startedAt}` ? pid : undefined;
}

// Two processes may find the same stale claim. Renaming decides who removes it; whoever finds that it has just
// renamed the other's fresh claim puts that back.
async function discardStaleClaim(file: string, stale: string): Promise<void> {
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await rename(file, aside);
  } catch {
    return;
  }
  const removed = await readlink(aside);
  await (removed === stale ? rm(aside, { force: true }) : rename(aside, file));
}

// A claim that cannot be removed is stale once this process has ended, so it does no harm.
async function removeQuietly(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => undefined);
}

function inUse(folder: string, pid: number): EmbeddedServerError {
  const who = pid === process.pid ? 'this process' : `process ${pid}`;
  return new EmbeddedServerError('folder_in_use', `a server on ${folder} is already run by ${who}; stop that first`);
}
