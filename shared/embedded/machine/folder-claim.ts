import { mkdir, readlink, rename, rm, rmdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { EmbeddedServerError } from './embedded-server-error.ts';
import { readProcessFacts } from '../../runtime/process-facts.ts';

/** The right to run a server on a folder, held by this process until released. */
export type FolderClaim = {
  /** Whether the previous holder ended without releasing the claim; a server still on the folder is then its orphan. */
  readonly isTakenOver: boolean;
  release(): Promise<void>;
};

const claimFile = 'owner';
const attemptsMax = 100;
const retryMs = 20;
const guardAgeMaxMs = 1_000;

/**
 * Claims a folder for this process. The claim of a process that has ended (kill -9, power cut) is taken over. If a
 * living process holds a claim, throws EmbeddedServerError, so that two stacks never run on the same data.
 */
export async function claimFolder(folder: string): Promise<FolderClaim> {
  const file = join(folder, claimFile);
  const mine = await describeThisProcess();
  const held = (isTakenOver: boolean): FolderClaim => ({ isTakenOver, release: () => removeQuietly(file) });
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    if (await createLink(mine, file, folder)) return held(false);
    const owner = await readlink(file).catch(() => undefined);
    if (owner === undefined) {
      continue;
    }
    const livingPid = await livingOwner(owner);
    if (livingPid !== undefined) {
      throw inUse(folder, livingPid);
    }
    if (await replaceStaleClaim(file, owner, mine)) return held(true);
    await delay(retryMs);
  }
  throw new EmbeddedServerError('folder_in_use', `could not claim ${folder}: other processes keep claiming it`);
}

/** Whether a living process holds a claim on the folder; undefined if the folder has no claim at all. */
export async function isFolderClaimed(folder: string): Promise<boolean | undefined> {
  const owner = await readlink(join(folder, claimFile)).catch(() => undefined);
  return owner === undefined ? undefined : (await livingOwner(owner)) !== undefined;
}

// The claim is a symbolic link whose target is text, not a path. A link is created together with its target, so no
// process ever reads a half-written claim.
async function createLink(text: string, file: string, folder: string): Promise<boolean> {
  try {
    await symlink(text, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      return false;
    }
    throw new EmbeddedServerError(
      'folder_unusable',
      `cannot write to ${folder} (does it belong to another account?)`,
      error,
    );
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

// Several processes may find the same stale claim. Only the process that creates the guard folder replaces the claim,
// after reading it again; otherwise a slower process would replace the claim that a faster process has just made. The
// new claim replaces the stale claim in one step: without a claim, the next process would not look for an orphaned
// server.
async function replaceStaleClaim(file: string, stale: string, mine: string): Promise<boolean> {
  const guard = `${file}.takeover`;
  try {
    await mkdir(guard);
  } catch {
    await removeOldGuard(guard);
    return false;
  }
  const next = `${file}.next`;
  try {
    if ((await readlink(file).catch(() => undefined)) !== stale) return false;
    await removeQuietly(next);
    await symlink(mine, next);
    await rename(next, file);
    return true;
  } finally {
    await rmdir(guard);
  }
}

// Removes a guard folder that its process left behind when it ended.
async function removeOldGuard(guard: string): Promise<void> {
  const found = await stat(guard).catch(() => undefined);
  // A time in the future means that the clock was set back.
  if (found !== undefined && Math.abs(Date.now() - found.mtimeMs) > guardAgeMaxMs) {
    await rmdir(guard).catch(() => undefined);
  }
}

// Errors are ignored, since a claim that is not removed is stale once this process has ended.
async function removeQuietly(file: string): Promise<void> {
  await rm(file, { force: true }).catch(() => undefined);
}

function inUse(folder: string, pid: number): EmbeddedServerError {
  const who = pid === process.pid ? 'this process' : `process ${pid}`;
  return new EmbeddedServerError('folder_in_use', `a server on ${folder} is already run by ${who}; stop that first`);
}
