import { pbkdf2 } from 'node:crypto';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { openLogFile, readLogTail, startServerProcess } from './server-process.ts';

let path: string;

beforeEach(async () => {
  path = join(await mkdtemp(join(tmpdir(), 'sluice-log-')), 'server.log');
});

afterEach(() => rm(join(path, '..'), { recursive: true, force: true }));

test('log file: the tail holds the last lines of this start only', async () => {
  await writeFile(path, 'an earlier start\n');
  const log = await openLogFile(path);
  const { size } = await log.stat();
  expect(await readLogTail(path, size)).toBe('');
  await log.write(Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join(''));
  await log.close();
  const tail = (await readLogTail(path, size)).split('\n');
  expect(tail).toHaveLength(15);
  expect(tail.at(-1)).toBe('line 29');
});

test('log file: a large file is renamed to .1, and an empty file takes its place', async () => {
  await writeFile(path, Buffer.alloc(9 * 1024 * 1024));
  await (await openLogFile(path)).close();
  expect((await stat(path)).size).toBe(0);
  expect((await stat(`${path}.1`)).size).toBe(9 * 1024 * 1024);
});

test('log file: a missing file has an empty tail', async () => {
  expect(await readLogTail(path, 0)).toBe('');
});

test('server process: a server that ends before its log file is closed here gives an error with its exit code', async () => {
  // Keeps the thread pool busy, so that the close of the log file waits.
  let isBusy = true;
  const work = (): void => {
    if (isBusy) pbkdf2('password', 'salt', 50_000, 64, 'sha512', work);
  };
  for (let task = 0; task < 8; task += 1) work();
  try {
    const options = { label: 'a server', command: '/bin/sh', args: ['-c', 'exit 3'], logFile: path, stopSteps: [] };
    const server = await startServerProcess(options);
    await expect(server.whenReady(async () => false, 60_000)).rejects.toThrow('ended while starting (exit code 3)');
  } finally {
    isBusy = false;
  }
});
