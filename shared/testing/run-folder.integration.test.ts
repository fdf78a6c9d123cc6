import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, symlink, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';

import { readProcessFacts } from '../runtime/process-facts.ts';
import { leaveServerBehind } from './leave-server-behind.ts';
import { createRunFolder, removeLeftRunFolders } from './run-folder.ts';
import { natsBinaryPath } from './servers.ts';

test('run folder: the folder of a killed run is removed, and the server left in it is ended', async () => {
  const path = await mkdtemp(join(tmpdir(), 'sluice-test-'));
  await symlink('999999999@long-ago', join(path, 'owner'));
  const pid = await leaveServerBehind(new URL('../embedded/nats/nats-server.ts', import.meta.url), 'startNatsServer', {
    binaryPath: await natsBinaryPath(),
    storeDir: join(path, 'nats-left'),
  });
  expect(await readProcessFacts(pid)).toBeDefined();
  await removeLeftRunFolders();
  // Another run that starts at this moment may be removing the folder, too.
  await expect.poll(() => readProcessFacts(pid)).toBeUndefined();
  await expect.poll(() => existsSync(path)).toBe(false);
});

test('run folder: folders of runs that still go on and folders just made are left alone', async () => {
  const going = await createRunFolder();
  const justMade = await mkdtemp(join(tmpdir(), 'sluice-test-'));
  await mkdir(join(justMade, 'nats-x'));
  await removeLeftRunFolders();
  expect([going.path, justMade, inject('testRunFolder')].map((path) => existsSync(path))).toEqual([true, true, true]);
  await going.remove();
  expect(existsSync(going.path)).toBe(false);
  // Two hours old and unclaimed, as if its run had been killed before it claimed the folder.
  const then = new Date(Date.now() - 2 * 60 * 60 * 1000);
  await utimes(justMade, then, then);
  await removeLeftRunFolders();
  expect(existsSync(justMade)).toBe(false);
});
