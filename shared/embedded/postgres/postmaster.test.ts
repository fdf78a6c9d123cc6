import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { findPostmaster, isPostmasterOf, parsePostmasterPid, parsePostmasterStatus } from './postmaster.ts';

const pidFile = '4711\n/data/cluster\n1763700000\n5432\n\n127.0.0.1\n  1234 5\nready   \n';

test('postmaster: process id and status are read from its pid file', () => {
  expect(parsePostmasterPid(pidFile)).toBe(4711);
  expect(parsePostmasterPid('-4711\n')).toBe(4711);
  expect(parsePostmasterStatus(pidFile)).toBe('ready');
  expect(parsePostmasterStatus('4711\n')).toBeUndefined();
});

test.each([
  [['/x/bin/postgres', '-D', '/data/cluster'], '/data/cluster', true],
  [['/x/bin/postgres', '-D', '.'], '/data/cluster', true],
  [['/x/bin/postgres', '-D', '/data/cluster'], undefined, true],
  [['/x/bin/postgres', '-D', '/other'], undefined, false],
  [['/x/bin/postgres', '-D', '/other'], '/other', false],
  [['vim', '/data/cluster/postgresql.conf'], '/data/cluster', false],
  [[], undefined, false],
])('postmaster: process %j in folder %s is the server of /data/cluster: %s', (command, workingDirectory, answer) => {
  expect(isPostmasterOf({ pid: 1, command, startedAt: '', workingDirectory }, '/data/cluster')).toBe(answer);
});

test('postmaster: a pid file whose process id now belongs to another program is removed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-postmaster-'));
  try {
    await writeFile(join(folder, 'postmaster.pid'), `${process.pid}\n${folder}\n`);
    expect(await findPostmaster(folder)).toBeUndefined();
    expect(await readdir(folder)).toEqual([]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
