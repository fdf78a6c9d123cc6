import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { claimFolder, isFolderClaimed } from './folder-claim.ts';
import { readProcessFacts } from '../../runtime/process-facts.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-claim-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('folder claim: is refused while held, and free again after release', async () => {
  const claim = await claimFolder(folder);
  expect(claim.isTakenOver).toBe(false);
  expect(await isFolderClaimed(folder)).toBe(true);
  await expect(claimFolder(folder)).rejects.toThrow(`a server on ${folder} is already run by this process`);
  await claim.release();
  expect(await isFolderClaimed(folder)).toBeUndefined();
  await (await claimFolder(folder)).release();
});

test('folder claim: the claim of a process that has ended is taken over', async () => {
  const child = spawn('sleep', ['60']);
  await once(child, 'spawn');
  const facts = await readProcessFacts(child.pid ?? 0);
  await symlink(`${facts?.pid}@${facts?.startedAt}`, join(folder, 'owner'));
  await expect(claimFolder(folder)).rejects.toThrow(`already run by process ${child.pid}`);
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await isFolderClaimed(folder)).toBe(false);
  expect((await claimFolder(folder)).isTakenOver).toBe(true);
});

test('folder claim: a claim whose process id now belongs to another process is taken over', async () => {
  await symlink(`${process.pid}@the-day-before-yesterday`, join(folder, 'owner'));
  expect((await claimFolder(folder)).isTakenOver).toBe(true);
});

test('folder claim: if many processes want a stale claim at once, only one gets it', async () => {
  await symlink('999999999@long-ago', join(folder, 'owner'));
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => claimFolder(folder)));
  const claims = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  // The new holder looks for a server that the ended process left running.
  expect(claims).toMatchObject([{ isTakenOver: true }]);
  expect(await readdir(folder)).toEqual(['owner']);
});

test('folder claim: a claim is taken over even if a process ended in the middle of an earlier takeover', async () => {
  await symlink('999999999@long-ago', join(folder, 'owner'));
  await mkdir(join(folder, 'owner.takeover'));
  await symlink('999999999@long-ago', join(folder, 'owner.next'));
  expect((await claimFolder(folder)).isTakenOver).toBe(true);
  expect(await readdir(folder)).toEqual(['owner']);
});
